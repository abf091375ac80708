import { once } from 'node:events';
import { WebSocket } from 'ws';

/**
 * Runs the garbage collector in a process that was started with `--inspect=127.0.0.1:0` (Chrome DevTools Protocol, HeapProfiler).
 * Returns the used heap in bytes.
 */
export async function measureHeapBytes(output: string): Promise<number> {
  const url = /ws:\/\/127\.0\.0\.1:\d+\/[-\w]+/.exec(output)?.[0];
  if (url === undefined) throw new Error('The process was not started with --inspect.');
  const socket = new WebSocket(url);
  await once(socket, 'open');
  let id = 0;
  const call = async (method: string): Promise<Record<string, unknown>> => {
    id += 1;
    socket.send(JSON.stringify({ id, method }));
    for (;;) {
      const [data] = await once(socket, 'message');
      const message = JSON.parse(String(data)) as { id?: number; result?: Record<string, unknown> };
      if (message.id === id) return message.result ?? {};
    }
  };
  await call('HeapProfiler.collectGarbage');
  const usage = await call('Runtime.getHeapUsage');
  socket.close();
  await once(socket, 'close');
  return Number(usage['usedSize']);
}
