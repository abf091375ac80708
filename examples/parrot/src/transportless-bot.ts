import { setInterval, setTimeout } from 'node:timers/promises';

export type TransportlessBotOptions = {
  readonly say: string | undefined;
  /** Seconds until the session ends by itself. If undefined, the session runs until it is stopped. */
  readonly exitAfterSeconds: number | undefined;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
};

const remarkEverySeconds = 5;

/** A session without a transport. Logs a line every `remarkEverySeconds` seconds. */
export async function runTransportlessBot({
  say,
  exitAfterSeconds,
  signal,
  log,
}: TransportlessBotOptions): Promise<void> {
  if (say !== undefined) log(say);
  const leave = new AbortController();
  const either = AbortSignal.any([signal, leave.signal]);
  await Promise.all([remark(either, log), departure(exitAfterSeconds, either).then(() => leave.abort())]);
}

async function remark(signal: AbortSignal, log: (line: string) => void): Promise<void> {
  let seconds = 0;
  try {
    for await (const _ of setInterval(remarkEverySeconds * 1000, undefined, { signal })) {
      seconds += remarkEverySeconds;
      log(`still here after ${seconds} s`);
    }
  } catch (cause) {
    if (!signal.aborted) throw cause;
  }
}

/** Resolves after the given seconds, or when the signal aborts. */
async function departure(seconds: number | undefined, signal: AbortSignal): Promise<void> {
  if (seconds === undefined) {
    if (signal.aborted) return;
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    return;
  }
  await setTimeout(seconds * 1000, undefined, { signal }).catch(() => {});
}
