/** Sessions of this process. Ownership begins before the row exists, so that no pass takes the session for an orphan. */
export type SessionOwnershipRegistry = {
  readonly has: (sessionId: string) => boolean;
  readonly acquire: (sessionId: string) => void;
  /** Sets what `abort` calls for an owned session. For example, it closes the WebSocket of a stopped session. */
  readonly onAbort: (sessionId: string, abort: () => void) => void;
  /** Gives up ownership, because the session's end is recorded or its start failed. */
  readonly release: (sessionId: string) => void;
  readonly abort: (sessionId: string) => void;
  /** Resolves when this process no longer owns the session, or when the signal aborts. */
  readonly released: (sessionId: string, signal: AbortSignal) => Promise<void>;
};

export function createSessionOwnershipRegistry(): SessionOwnershipRegistry {
  const held = new Map<string, { abort?: () => void; readonly waiters: Set<() => void> }>();

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
    acquire: (sessionId) => {
      if (!held.has(sessionId)) held.set(sessionId, { waiters: new Set() });
    },
    onAbort: (sessionId, abort) => {
      const entry = held.get(sessionId);
      if (entry !== undefined) entry.abort = abort;
    },
    release,
    abort: (sessionId) => held.get(sessionId)?.abort?.(),
    released,
  };
}
