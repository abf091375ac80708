import { once } from 'node:events';
import { WebSocket } from 'ws';

/**
 * Has a process that was started with `--inspect=127.0.0.1:0` collect its garbage, so that what it needs can be told from
 * what it has not tidied up yet (Chrome DevTools Protocol, HeapProfiler). Returns what is used of its heap after, in bytes.
 */
export async function heapAfterCollection(output: string): Promise<number> {
  const url = /ws:\/\/127\.0\.0\.1:\d+\/[-\w]+/.exec(output)?.[0];
  if (url === undefined) throw new Error('the process is not open for inspection');
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
