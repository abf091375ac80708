import { setTimeout as delay } from 'node:timers/promises';

/** Polls until `poll` returns a result. Rejects with the name `what` after `seconds` without a result. */
export async function waitUntil<T>(
  what: string,
  ask: () => Promise<T | undefined>,
  { seconds = 60, everyMilliseconds = 10 }: { seconds?: number; everyMilliseconds?: number } = {},
): Promise<T> {
  const deadline = performance.now() + seconds * 1000;
  while (performance.now() < deadline) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await delay(everyMilliseconds);
  }
  throw new Error(`Timed out after ${seconds} s: ${what}`);
}
