import { setTimeout as delay } from 'node:timers/promises';
import { createTimeout } from '@bothost/contract';
import { request } from 'undici';
import { botPort } from './bot-port.ts';
import { formatUrlHost } from './format-url-host.ts';

export const notListening = `it does not listen on ${botPort}, the port in PORT`;
const tryMs = 1_000;
const firstIntervalMs = 10;
const maxIntervalMs = 100;

/** Polls, because the kernel has no event for a socket that begins to listen. Resolves to the address of the ready bot. */
export async function waitUntilReady(
  readAddress: () => Promise<string | null>,
  signal: AbortSignal,
  onState: (state: string) => void,
): Promise<string> {
  let host: string | null = null;
  for (let intervalMs = firstIntervalMs; ; intervalMs = Math.min(intervalMs * 1.2, maxIntervalMs)) {
    signal.throwIfAborted();
    host ??= await readAddress().catch(() => null);
    if (host !== null) {
      const status = await probeReadiness(host, signal);
      if (status === 200 || status === 404 || status === 405) return host;
      onState(status === null ? notListening : `it responds ${status} on /readyz`);
    }
    await delay(intervalMs, undefined, { signal });
  }
}

/** Returns the status of `GET /readyz`, or null if no response arrives in time. */
async function probeReadiness(host: string, signal: AbortSignal): Promise<number | null> {
  const url = `http://${formatUrlHost(host)}:${botPort}/readyz`;
  try {
    const timeout = AbortSignal.any([signal, createTimeout(tryMs)]);
    const response = await request(url, { signal: timeout, reset: true });
    await response.body.dump();
    return response.statusCode;
  } catch {
    return null;
  }
}
