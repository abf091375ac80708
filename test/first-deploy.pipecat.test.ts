import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readConfig } from '../packages/server/src/config.ts';
import { type Service, startService } from './service.ts';
import { essence, openTerminal, patternOf, stepsOf } from './transcript.ts';

/** The part of docs/deploy.md that takes the real Pipecat. */
const root = fileURLToPath(new URL('..', import.meta.url));
let service: Service;

beforeAll(async () => {
  const { inherited, secrets } = readConfig();
  service = await startService({ PATH: inherited.path, ...secrets.buildVariables });
});
afterAll(() => service?.close());

it('a Pipecat bot is deployed as docs/deploy.md says, and a change of it installs nothing', async () => {
  const { environment, folder, origin } = service;
  const terminal = openTerminal(folder, origin, { ...environment, BOTHOST: root });
  const steps = stepsOf(await readFile(join(root, 'docs/deploy.md'), 'utf8'), 'A Pipecat bot in Python');
  expect(steps).toHaveLength(3);
  for (const step of steps) {
    const printed = await terminal.follow(step);
    if (step.kind === 'commands' && step.printed !== null) {
      expect(`${essence(printed)}\n`).toMatch(patternOf(step.printed));
    }
  }
});
