import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import type { SpawnerRequest, SpawnerRequestMessage } from './spawner-messages.ts';

const programPath = fileURLToPath(new URL('./spawner-program.cjs', import.meta.url));
const options = { cwd: '/', env: { PATH: '/usr/bin:/bin' } };

function startSpawner(file: string, parameters: readonly string[]): ChildProcess {
  const spawner = spawn(file, parameters, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  onTestFinished(() => void spawner.kill('SIGKILL'));
  return spawner;
}

function send(spawner: ChildProcess, request: SpawnerRequest): void {
  const message: SpawnerRequestMessage = { id: 1, request };
  spawner.send(message);
}

it('the spawner exits when the server disconnects, although a program has open pipes to it', async () => {
  const spawner = startSpawner(process.execPath, [programPath]);
  const exited = once(spawner, 'exit');
  // The program ends with the spawner, because it cannot write to the closed pipe.
  const command = ['sh', '-c', 'while echo; do sleep 0.1; done'];
  send(spawner, { type: 'run', command, options, stallMs: undefined });
  spawner.disconnect();
  expect(await exited).toEqual([null, 'SIGKILL']);
});
