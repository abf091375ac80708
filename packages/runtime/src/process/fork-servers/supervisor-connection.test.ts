import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { connectSupervisor } from './supervisor-connection.ts';

it('ignores the error of a request that is sent after the supervisor has closed the connection', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-supervisor-'));
  const path = join(directory, 'socket');
  const server = createServer().listen(path);
  onTestFinished(async () => {
    server.close();
    await rm(directory, { recursive: true });
  });
  const accepted = once(server, 'connection');
  const onClose = vi.fn();
  const options = { path, isAlive: () => true, timeoutMs: 10_000, onEvent: () => undefined, onClose };
  const connection = await connectSupervisor(options);
  const [supervisor]: Socket[] = await accepted;
  supervisor?.destroy();
  await once(server.close(), 'close');
  // Writing to the closed connection fails with EPIPE. If the code under test does not handle this error, Vitest fails the run.
  connection?.send({ do: 'status' });
  await vi.waitFor(() => expect(onClose).toHaveBeenCalledOnce());
});
