/** Why a session is asked to end. */
export type EndReason = 'stopped' | 'time limit' | 'shutdown';

/** How a session went, as `GET /_bot/session` tells it (bot contract 2.2). `idle`: nothing was handed over yet. */
export interface SessionReport {
  readonly sessionId: string | null;
  readonly state: 'idle' | 'running' | 'ended';
  /** The HTTP status that `POST /bot` answered, or would have answered to a caller that is gone; absent for a socket. */
  readonly status?: number;
  readonly completionStatus?: string;
  readonly endedAt?: string;
}

export interface Session {
  readonly id: string;
  /** Epoch milliseconds with a fraction: when the handler was entered that began this session. */
  readonly enteredAtMs: number;
  /** Aborts, with an `EndReason`, when the session is asked to end. */
  readonly signal: AbortSignal;
  readonly end: (reason: EndReason) => void;
  /** Records the end; the first call counts. */
  readonly finish: (outcome: { status?: number; completionStatus?: string }) => void;
}

export interface SessionRequest {
  readonly id: string;
  readonly enteredAtMs: number;
  /** The session ends itself after this many seconds. */
  readonly maxSeconds: number | undefined;
}

/** Holds the one session of this process. */
export interface SessionSlot {
  /** Undefined when a session is running already. */
  readonly begin: (request: SessionRequest) => Session | undefined;
  /** The running session, or the last one. */
  readonly latest: () => Session | undefined;
  readonly running: () => Session | undefined;
  readonly report: () => SessionReport;
  /** Resolves when no session is running; at once when none is. */
  readonly ended: () => Promise<void>;
}

export function createSessionSlot(now: () => Date): SessionSlot {
  let session: Session | undefined;
  let report: SessionReport = { sessionId: null, state: 'idle' };
  let ended = Promise.resolve();

  function begin({ id, enteredAtMs, maxSeconds }: SessionRequest): Session | undefined {
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
        // Whatever the session left behind (a burn, an event stream) ends with it.
        end('stopped');
        settle();
      },
    };
    return session;
  }

  return {
    begin,
    latest: () => session,
    running: () => (report.state === 'running' ? session : undefined),
    report: () => report,
    ended: () => ended,
  };
}
