import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Service, startService } from '../packages/dashboard/src/testing/service.ts';
import { buildBotcli, buildService } from './build-programs.ts';
import { essence, openTerminal, patternOf, stepsOf, type Terminal } from './transcript.ts';

/** docs/deploy.md is followed as a reader would, with the built service and the built botcli. */
const root = fileURLToPath(new URL('..', import.meta.url));
let service: Service;
let terminal: Terminal;
let document: string;

beforeAll(async () => {
  buildService();
  document = await readFile(join(root, 'docs/deploy.md'), 'utf8');
  service = await startService();
  const { environment, folder, origin } = service;
  const PATH = `${await buildBotcli(join(folder, 'botcli'))}:${environment['PATH']}`;
  terminal = openTerminal(folder, origin, { ...environment, PATH });
}, 180_000);
afterAll(() => service?.close());

it.each(['A bot in ten lines', 'A change', 'A broken one', 'Back'])(
  'the section “%s” does what it says',
  async (title) => {
    const steps = stepsOf(document, title);
    expect(steps.length).toBeGreaterThan(0);
    for (const step of steps) {
      const printed = await terminal.follow(step);
      if (step.kind === 'commands' && step.printed !== null)
        expect(`${essence(printed)}\n`).toMatch(patternOf(step.printed));
    }
  },
  60_000,
);
