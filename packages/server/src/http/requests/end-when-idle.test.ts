import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { endWhenIdle } from './end-when-idle.ts';

/** Opens a connection and returns the socket of the service and the socket of the client. */
async function openConnection(): Promise<[Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [socket] = await once(server, 'connection');
  onTestFinished(() => {
    client.destroy();
    socket.destroy();
    server.close();
  });
  return [socket, client];
}

it('waits until a slow client has received everything, or has left', async () => {
  const [[idle], [slow, reader], [left, leaver]] = await Promise.all([
    openConnection(),
    openConnection(),
    openConnection(),
  ]);
  const ended: string[] = [];
  for (const socket of [slow, left]) socket.on('error', () => undefined).write(Buffer.alloc(32 * 1_048_576));
  endWhenIdle(slow, 20, () => ended.push('slow'));
  endWhenIdle(left, 20, () => ended.push('left'));
  endWhenIdle(idle, 20, () => ended.push('stopped'))();
  endWhenIdle(idle, 20, () => ended.push('idle'));
  await expect.poll(() => ended).toEqual(['idle']);
  leaver.destroy();
  await expect.poll(() => ended).toEqual(['idle', 'left']);
  reader.resume();
  await expect.poll(() => ended).toEqual(['idle', 'left', 'slow']);
});
