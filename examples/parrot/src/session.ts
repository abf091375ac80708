export type EndReason = 'stopped' | 'time limit' | 'shutdown';

/** The body of `GET /_bot/session`. The state is `idle` before the first session. */
export type SessionReport = {
  readonly sessionId: string | null;
  readonly state: 'idle' | 'running' | 'ended';
  /**
   * HTTP status of the response to `POST /bot`, even if the client disconnected before the response. Undefined for a WebSocket
   * session.
   */
  readonly status?: number;
  readonly completionStatus?: string;
  readonly endedAt?: string;
};

export type Session = {
  readonly id: string;
  /** The time at which the handler that started the session was called, in milliseconds since the epoch with a fraction. */
  readonly enteredAtMs: number;
  /** Signal that aborts when the session must end. Its reason is an `EndReason`. */
  readonly signal: AbortSignal;
  readonly end: (reason: EndReason) => void;
  /** Records the end of the session. All calls after the first one are ignored. */
  readonly finish: (outcome: { status?: number; completionStatus?: string }) => void;
};

export type SessionRequest = {
  readonly id: string;
  readonly enteredAtMs: number;
  /** Seconds after which the session ends by itself. If undefined, the session has no time limit. */
  readonly maxSeconds: number | undefined;
};

/** Holds the session of this process. A process runs at most one session at a time. */
export type SessionSlot = {
  /** Starts a session. Returns undefined if one is already running. */
  readonly start: (request: SessionRequest) => Session | undefined;
  /** The running session, or else the last session. Undefined before the first session. */
  readonly latest: () => Session | undefined;
  readonly running: () => Session | undefined;
  readonly report: () => SessionReport;
  readonly ended: () => Promise<void>;
};

export function createSessionSlot(now: () => Date): SessionSlot {
  let session: Session | undefined;
  let report: SessionReport = { sessionId: null, state: 'idle' };
  let ended = Promise.resolve();

  function start({ id, enteredAtMs, maxSeconds }: SessionRequest): Session | undefined {
    if (report.state === 'running') return undefined;
    const controller = new AbortController();
    const end = (reason: EndReason) => controller.abort(reason);
    const limit = maxSeconds === undefined ? undefined : setTimeout(end, maxSeconds * 1000, 'time limit');
    let settle: () => void = () => {};
    ended = new Promise((resolve) => {
      settle = resolve;
    });
    report = { sessionId: id, state: 'running' };
    session = {
      id,
      enteredAtMs,
      signal: controller.signal,
      end,
      finish: (outcome) => {
        if (report.state === 'ended') return;
        clearTimeout(limit);
        report = { sessionId: id, state: 'ended', ...outcome, endedAt: now().toISOString() };
        // Abort the ended session's signal. This stops the session's event streams, and the CPU and memory load that
        // `POST /burn` generates.
        end('stopped');
        settle();
      },
    };
    return session;
  }

  return {
    start,
    latest: () => session,
    running: () => (report.state === 'running' ? session : undefined),
    report: () => report,
    ended: () => ended,
  };
}
