/**
 * The sessions that this process looks after at the moment: it holds their `POST /bot`, waits for their bot's word, or
 * relays their socket. Held from before the session's row exists, so that nobody else can think it was forgotten.
 */
export type Attendance = {
  readonly has: (sessionId: string) => boolean;
  /** Begins; `abort` is called when the session has to be given up (a stop closes its socket). */
  readonly hold: (sessionId: string, abort?: () => void) => void;
  /** Ends: the session's end is recorded, or it never came to be. */
  readonly release: (sessionId: string) => void;
  readonly abort: (sessionId: string) => void;
  /** Resolves when nobody attends the session any more, or at the abort. */
  readonly released: (sessionId: string, signal: AbortSignal) => Promise<void>;
  readonly size: () => number;
};

export function createAttendance(): Attendance {
  const held = new Map<string, { abort: (() => void) | undefined; waiters: Set<() => void> }>();

  function hold(sessionId: string, abort?: () => void) {
    const before = held.get(sessionId);
    held.set(sessionId, { abort: abort ?? before?.abort, waiters: before?.waiters ?? new Set() });
  }

  function release(sessionId: string) {
    const entry = held.get(sessionId);
    held.delete(sessionId);
    for (const done of entry?.waiters ?? []) done();
  }

  function released(sessionId: string, signal: AbortSignal): Promise<void> {
    const entry = held.get(sessionId);
    if (entry === undefined || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        signal.removeEventListener('abort', done);
        entry.waiters.delete(done);
        resolve();
      };
      entry.waiters.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  return {
    has: (sessionId) => held.has(sessionId),
    hold,
    release,
    abort: (sessionId) => held.get(sessionId)?.abort?.(),
    released,
    size: () => held.size,
  };
}
