import { setTimeout as delay } from 'node:timers/promises';
import { benchmarkAbortController } from './interruption.ts';

/** Calls `ask` repeatedly until it returns a result. Rejects after `seconds`; `what` names the result in the error message. */
export async function waitUntil<T>(
  what: string,
  ask: () => Promise<T | undefined>,
  { seconds = 60, everyMs = 10 }: { seconds?: number; everyMs?: number } = {},
): Promise<T> {
  const deadline = performance.now() + seconds * 1000;
  while (performance.now() < deadline) {
    benchmarkAbortController.signal.throwIfAborted();
    const answer = await ask();
    if (answer !== undefined) return answer;
    await delay(everyMs);
  }
  throw new Error(`Timed out after ${seconds} s: ${what}`);
}
