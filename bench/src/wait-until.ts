import { setTimeout as delay } from 'node:timers/promises';

/** Asks again and again until there is an answer. Rejects, naming `what`, when none came within `seconds`. */
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
  throw new Error(`${what}: not within ${seconds} s`);
}
