import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import { findFreePort } from '../../../server/test/support/free-port.ts';
import { stopProcess } from './generated-client.ts';

const run = promisify(execFile);

/** The directory of a Pipecat bot that talks to browsers and needs no vendor. */
export const talkingBotDirectory = fileURLToPath(new URL('talking-bot', import.meta.url));

/** Starts the bot under Pipecat's development runner, as `uv run bot.py` does. `cache` keeps its packages between runs. */
export async function runBotLocally(
  cache: string,
  uvFolder: string,
): Promise<{ readonly startUrl: string; readonly close: () => Promise<void> }> {
  const python = await pythonWithPackages(cache, uvFolder);
  const port = await findFreePort();
  const child = spawn(python, ['bot.py', '--port', String(port)], {
    cwd: talkingBotDirectory,
    env: { PATH: import.meta.env['PATH'], HOME: cache, PYTHONUNBUFFERED: '1' },
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  const origin = `http://localhost:${port}`;
  const responds = async () => (await fetch(`${origin}/status`).catch(() => null))?.ok === true;
  await vi.waitUntil(async () => child.exitCode !== null || (await responds()), { timeout: 90_000, interval: 100 });
  if (child.exitCode !== null) throw new Error(`The bot exited with status ${child.exitCode} before it was ready.`);
  return { startUrl: `${origin}/start`, close: () => stopProcess(child) };
}

async function pythonWithPackages(cache: string, uvFolder: string): Promise<string> {
  const project = await readFile(join(talkingBotDirectory, 'pyproject.toml'), 'utf8');
  const { stdout: version } = await run('python3', ['-c', 'import sys; print(sys.version)']);
  const hash = createHash('sha256').update(version).update(project).digest('hex').slice(0, 16);
  const environment = join(cache, `talking-bot-${hash}`);
  const python = join(environment, 'bin', 'python');
  // Create this file last, so that its absence marks an incomplete environment, which is then created again.
  const marker = join(environment, 'complete');
  if (existsSync(marker)) return python;
  await rm(environment, { recursive: true, force: true });
  await mkdir(cache, { recursive: true });
  await run('python3', ['-m', 'venv', environment]);
  const [, requirement = ''] = /dependencies = \["(.*)"\]/.exec(project) ?? [];
  await run(join(uvFolder, 'uv'), ['pip', 'install', '--quiet', '--python', python, requirement]);
  await writeFile(marker, '');
  return python;
}
