/** The phases of a session. The suite kills the server in each of them. */
export const phases = ['insert', 'claim', 'spawn', 'dispatch', 'live', 'ending'] as const;
export type Phase = (typeof phases)[number];

/** The state of one session in the database and the file system while the server is suspended. */
export type SessionState = {
  readonly sessionId: string;
  readonly state: 'waiting' | 'starting' | 'live' | 'ending' | 'ended';
  readonly instanceState: 'starting' | 'ready' | 'stopping' | 'ended' | null;
  /** The runtime has begun to start the instance. */
  readonly begun: boolean;
  /** Its bot's handler was called. */
  readonly entered: boolean;
  /** Its bot has finished. */
  readonly left: boolean;
};

export type ObservedPhase = { readonly phase: Phase; readonly detail: string };

/** The phase of a session; null while it waits for its client, and after its end. */
export function phaseOf(session: SessionState): ObservedPhase | null {
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
 * The phase of a start with an open transaction, from its last SQL statement. A start inserts its session and claims an
 * instance in one statement; a WebSocket connection claims in a statement of its own.
 */
export function phaseOfStatement(statement: string): ObservedPhase | null {
  if (/^(\/\* prepared: insert-and-claim \*\/|insert into sessions)/.test(statement)) {
    return { phase: 'insert', detail: 'not committed' };
  }
  return /^\/\* prepared: claim-instance \*\//.test(statement) ? { phase: 'claim', detail: 'not committed' } : null;
}
