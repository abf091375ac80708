/** The phases of a session. The suite kills the server during each phase. */
export const sessionPhases = ['insert', 'claim', 'spawn', 'dispatch', 'live', 'ending'] as const;
export type SessionPhase = (typeof sessionPhases)[number];

/** The state of one session in the database and the file system while the server is suspended. */
export type SessionState = {
  readonly sessionId: string;
  readonly state: 'waiting' | 'starting' | 'live' | 'ending' | 'ended';
  readonly instanceState: 'starting' | 'ready' | 'stopping' | 'ended' | null;
  /** Whether the runtime has begun to start the instance. */
  readonly begun: boolean;
  /** Whether the handler of the session's bot was called. */
  readonly entered: boolean;
  /** Whether the bot of the session has finished. */
  readonly left: boolean;
};

export type ObservedPhase = { readonly phase: SessionPhase; readonly detail: string };

/** Returns the phase of a session, or null while it waits for its client and after its end. */
export function determinePhase(session: SessionState): ObservedPhase | null {
  const { state, instanceState, begun, entered, left } = session;
  switch (state) {
    case 'waiting':
      return null;
    case 'starting':
      if (instanceState === 'ready')
        return { phase: 'dispatch', detail: entered ? 'the bot has the session' : 'in progress' };
      return begun ? { phase: 'spawn', detail: 'in progress' } : { phase: 'claim', detail: 'committed' };
    case 'live':
      return left ? { phase: 'ending', detail: 'the bot has finished' } : { phase: 'live', detail: 'live' };
    case 'ending':
      return { phase: 'ending', detail: 'decided' };
    case 'ended':
      return instanceState === 'ended' ? null : { phase: 'ending', detail: 'recorded, the instance is still running' };
  }
}

/**
 * Returns the phase of a session start, given the last SQL statement of its open transaction. A start request inserts the
 * session and claims an instance in one statement. For a WebSocket session, the connection of the client claims the instance in
 * a separate statement.
 */
export function determineStartPhaseFromSql(statement: string): ObservedPhase | null {
  if (/^(\/\* prepared: insert-and-claim \*\/|insert into sessions)/.test(statement)) {
    return { phase: 'insert', detail: 'not committed' };
  }
  return /^\/\* prepared: claim-instance \*\//.test(statement) ? { phase: 'claim', detail: 'not committed' } : null;
}
