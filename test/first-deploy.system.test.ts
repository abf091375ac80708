import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { startBuiltService } from './built-service.ts';
import {
  createDocumentedOutputPattern,
  normalizeTerminalOutput,
  openTerminal,
  readDocumentedSteps,
} from './transcript.ts';

/** Follows docs/deploy.md with the built service and the built botcli. */
const root = fileURLToPath(new URL('..', import.meta.url));

// Runs the sections of docs/deploy.md in order on one service, because each section continues the previous section.
it('the commands in docs/deploy.md print the documented output', async () => {
  const document = await readFile(join(root, 'docs/deploy.md'), 'utf8');
  const service = await startBuiltService();
  onTestFinished(service.close);
  const { environment, folder, origin } = service;
  const terminal = openTerminal(folder, origin, environment);
  for (const title of ['A bot in ten lines', 'A change', 'A broken version', 'A rollback']) {
    const steps = readDocumentedSteps(document, title);
    expect(steps.length, title).toBeGreaterThan(0);
    for (const step of steps) {
      const printed = await terminal.follow(step);
      if (step.kind === 'commands' && step.printed !== null)
        expect(`${normalizeTerminalOutput(printed)}\n`, title).toMatch(createDocumentedOutputPattern(step.printed));
    }
  }
}, 240_000);
