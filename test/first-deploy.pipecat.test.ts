import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, inject, it } from 'vitest';
import { readConfig } from '../packages/server/src/config.ts';
import { startBuiltService } from './built-service.ts';
import {
  createDocumentedOutputPattern,
  normalizeTerminalOutput,
  openTerminal,
  readDocumentedSteps,
} from './transcript.ts';

/** Follows the section of docs/deploy.md that installs the real Pipecat. */
const root = fileURLToPath(new URL('..', import.meta.url));

const { inherited, secrets } = readConfig();
// Put uv in PATH, because pip takes ten times as long to install Pipecat.
const service = await startBuiltService({ PATH: `${inherited.path}:${inject('uvFolder')}`, ...secrets.buildVariables });
afterAll(() => service?.close());

it('the commands in docs/deploy.md deploy a Pipecat bot, and redeploy changed code without reinstalling packages', async () => {
  const { environment, folder, origin } = service;
  const terminal = openTerminal(folder, origin, { ...environment, BOTHOST: root });
  const steps = readDocumentedSteps(await readFile(join(root, 'docs/deploy.md'), 'utf8'), 'A Pipecat bot in Python');
  expect(steps).toHaveLength(3);
  for (const step of steps) {
    const printed = await terminal.follow(step);
    if (step.kind === 'commands' && step.printed !== null) {
      expect(`${normalizeTerminalOutput(printed)}\n`).toMatch(createDocumentedOutputPattern(step.printed));
    }
  }
});
