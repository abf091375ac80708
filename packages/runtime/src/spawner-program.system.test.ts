import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { on, once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { createTestDirectory } from '../test/test-directory.ts';
import { type SpawnerRequest, type SpawnerRequestMessage, spawnerEventMessageSchema } from './spawner-messages.ts';

const programPath = fileURLToPath(new URL('./spawner-program.cjs', import.meta.url));
const options = { cwd: '/', env: { PATH: '/usr/bin:/bin' } };
/** Parameters of unshare(1) that run a command in a mount namespace with an empty /proc. */
const withoutProc = ['--map-root-user', '--mount', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh'];

function startSpawner(file: string, parameters: readonly string[]): ChildProcess {
  const spawner = spawn(file, parameters, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  onTestFinished(() => void spawner.kill('SIGKILL'));
  return spawner;
}

function send(spawner: ChildProcess, request: SpawnerRequest): void {
  const message: SpawnerRequestMessage = { id: 1, request };
  spawner.send(message);
}

it('the spawner exits when the server disconnects, even if a program holds open pipes to the spawner', async () => {
  const spawner = startSpawner(process.execPath, [programPath]);
  const exited = once(spawner, 'exit');
  // The program ends with the spawner, because it cannot write to the closed pipe.
  const command = ['sh', '-c', 'while echo; do sleep 0.1; done'];
  send(spawner, { type: 'run', command, options, stallMs: undefined });
  spawner.disconnect();
  expect(await exited).toEqual([null, 'SIGKILL']);
});

it('the spawner kills a program whose start time it cannot read', async ({ skip }) => {
  skip(spawnSync('unshare', [...withoutProc, 'true']).status !== 0, 'this account or machine does not allow the mount');
  const directory = await createTestDirectory();
  const [outputPath, exitPath] = [join(directory, 'output'), join(directory, 'exit')];
  await writeFile(exitPath, '');
  const spawner = startSpawner('unshare', [...withoutProc, process.execPath, programPath]);
  const messages = on(spawner, 'message');
  send(spawner, { type: 'start', command: ['sleep', '1000'], options, outputPath, exitPath, input: '' });
  const nextEvent = async () => {
    const { value } = await messages.next();
    return spawnerEventMessageSchema.parse(value[0]).event;
  };
  expect(await nextEvent()).toMatchObject({ type: 'failed', code: 'ENOENT' });
  expect(await nextEvent()).toEqual({ type: 'exited', exit: { code: null, signal: 'SIGKILL' } });
});
