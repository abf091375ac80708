import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Service, startService } from '../packages/dashboard/test/support/service.ts';
import { readConfig } from '../packages/server/src/config.ts';
import { buildBotcli, buildService } from './build-programs.ts';
import { essence, openTerminal, patternOf, stepsOf } from './transcript.ts';

/** The part of docs/deploy.md that takes the real Pipecat. */
const root = fileURLToPath(new URL('..', import.meta.url));
let service: Service;

beforeAll(async () => {
  buildService();
  const { inherited, secrets } = readConfig();
  service = await startService({ PATH: inherited.path, ...secrets.buildVariables });
});
afterAll(() => service?.close());

it('a Pipecat bot is deployed as docs/deploy.md says, and a change of it installs nothing', async () => {
  const { environment, folder, origin } = service;
  const PATH = `${await buildBotcli(join(folder, 'botcli'))}:${environment['PATH']}`;
  const terminal = openTerminal(folder, origin, { ...environment, PATH, BOTHOST: root });
  const steps = stepsOf(await readFile(join(root, 'docs/deploy.md'), 'utf8'), 'A Pipecat bot in Python');
  expect(steps).toHaveLength(3);
  for (const step of steps) {
    const printed = await terminal.follow(step);
    if (step.kind === 'commands' && step.printed !== null) {
      expect(`${essence(printed)}\n`).toMatch(patternOf(step.printed));
    }
  }
});
