import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { findFreePort } from '../support/free-port.ts';

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

it('runs and stops while its output is redirected to a full disk', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-output-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await chmod(directory, 0o711);
  // Each write to this device fails with ENOSPC (full(4)).
  const full = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(full));
  const port = await findFreePort();
  const env = {
    PATH: dirname(process.execPath),
    HOME: directory,
    BOTHOST_PORT: String(port),
    BOTHOST_DATA_DIR: join(directory, 'data'),
    BOTHOST_AGENTS: '',
    BOTHOST_DISK_RESERVE_MB: '16',
  };
  const service = spawn(process.execPath, [program], { cwd: directory, env, stdio: ['ignore', full, full] });
  onTestFinished(() => void service.kill('SIGKILL'));
  const exited = once(service, 'exit');
  const readStatus = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      (response) => response.status,
      () => null,
    );
  await expect.poll(readStatus, { timeout: 60_000 }).toBe(200);
  // Each request writes a log line.
  for (let count = 0; count < 100; count += 1) await fetch(`http://127.0.0.1:${port}/v1/unknown`);
  expect(await readStatus()).toBe(200);
  service.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});
