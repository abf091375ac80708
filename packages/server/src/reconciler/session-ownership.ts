/**
 * The sessions that this process owns. Ownership begins before the session's row exists, so that no reconcile pass
 * takes the session for an orphan.
 */
export type SessionOwnershipRegistry = {
  readonly has: (sessionId: string) => boolean;
  /**
   * Takes ownership of a session. `abort` is called when the session must be given up; for example, it closes the
   * WebSocket of a stopped session.
   */
  readonly acquire: (sessionId: string, abort?: () => void) => void;
  /** Gives up ownership, because the session's end is recorded or its start failed. */
  readonly release: (sessionId: string) => void;
  readonly abort: (sessionId: string) => void;
  /** Resolves when this process no longer owns the session, or when the signal aborts. */
  readonly released: (sessionId: string, signal: AbortSignal) => Promise<void>;
  readonly size: () => number;
};

export function createSessionOwnershipRegistry(): SessionOwnershipRegistry {
  const held = new Map<string, { abort: (() => void) | undefined; waiters: Set<() => void> }>();

  function acquire(sessionId: string, abort?: () => void) {
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
    acquire,
    release,
    abort: (sessionId) => held.get(sessionId)?.abort?.(),
    released,
    size: () => held.size,
  };
}
