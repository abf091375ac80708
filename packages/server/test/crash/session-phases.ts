/** The phases of a session in which the server has to have been killed (issue "a session", "What must be shown", 2). */
export const phases = ['insert', 'claim', 'spawn', 'hand-over', 'live', 'ending'] as const;
export type Phase = (typeof phases)[number];

/** What the database and the file system show of one session while the server stands still. */
export type Sight = {
  readonly sessionId: string;
  readonly state: 'waiting' | 'starting' | 'live' | 'ending' | 'ended';
  readonly instanceState: 'starting' | 'ready' | 'stopping' | 'ended' | null;
  /** The runtime has begun to make the instance. */
  readonly begun: boolean;
  /** Its bot's handler was entered. */
  readonly entered: boolean;
  /** Its bot is done with it. */
  readonly left: boolean;
};

export type Found = { readonly phase: Phase; readonly detail: string };

/** Where a session is; null for one that waits for its client, or is over. */
export function phaseOf(sight: Sight): Found | null {
  const { state, instanceState, begun, entered, left } = sight;
  switch (state) {
    case 'waiting':
      return null;
    case 'starting':
      if (instanceState === 'ready') return { phase: 'hand-over', detail: entered ? 'the bot has it' : 'under way' };
      return begun ? { phase: 'spawn', detail: 'under way' } : { phase: 'claim', detail: 'committed' };
    case 'live':
      return left ? { phase: 'ending', detail: 'the bot is done' } : { phase: 'live', detail: 'live' };
    case 'ending':
      return { phase: 'ending', detail: 'decided' };
    case 'ended':
      return instanceState === 'ended' ? null : { phase: 'ending', detail: 'recorded, its instance is left' };
  }
}

/**
 * Where the start is whose transaction is open, by the last statement that the database has of it. A start inserts its
 * session and claims its instance in one statement; the claim of a WebSocket's connection is one of its own.
 */
export function phaseOfStatement(statement: string): Found | null {
  if (/^(\/\* prepared: insert-and-claim \*\/|insert into sessions)/.test(statement)) {
    return { phase: 'insert', detail: 'not committed' };
  }
  return /^\/\* prepared: claim-instance \*\//.test(statement) ? { phase: 'claim', detail: 'not committed' } : null;
}
