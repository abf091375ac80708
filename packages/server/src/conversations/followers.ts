import type { ConversationNumbers, StorageProblem } from '@bothost/contract';
import type { Logger } from 'pino';
import { isDiskFullError } from '../store/connection-error.ts';
import { isFileSystemFull } from '../store/full-disk.ts';
import { type ConversationFollower, type FollowerContext, openFollower, type ReceivedEvent } from './follower.ts';
import { findFollowedSession, findFollowedSessionOfInstance } from './rows.ts';

export type ConversationFollowers = {
  /** Begins to follow the conversation of a session. Call this when the session is dispatched to its instance, or adopted. */
  readonly begin: (sessionId: string, instanceId: string) => void;
  /** Stores an event of a session's image (`ConversationFollower`). `unknown`: this server does not follow the session. */
  readonly receive: (
    sessionId: string,
    event: ReceivedEvent,
  ) => Promise<Awaited<ReturnType<ConversationFollower['receive']>> | 'unknown'>;
  /**
   * Reads the rest of an ended instance's conversation, and stores its numbers. Call this before the files of the instance are
   * removed. Idempotent. Rejects if the disk is full or the database unavailable, so that the caller retries. Other errors are
   * logged, because the end of an instance must not be delayed forever.
   */
  readonly finish: (instanceId: string) => Promise<void>;
  /** The numbers of a running conversation so far. Null if this server does not follow it. */
  readonly numbers: (sessionId: string) => ConversationNumbers | null;
  /** Why the last attempt to store new lines of a running conversation failed. Undefined if it succeeded. */
  readonly storageProblem: (sessionId: string) => StorageProblem | undefined;
  /** Resolves when lines of a session were stored after this call, when its conversation has ended, or when the signal aborts. */
  readonly changed: (sessionId: string, signal: AbortSignal) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Interval between two reads of a bot's file: while no client waits for its lines, and while one does. */
const idleMs = 500;
const watchedMs = 100;

type FollowedConversation = {
  readonly instanceId: string;
  /** The last step, which the next one waits for. */
  last: Promise<unknown>;
  follower: Promise<ConversationFollower | null> | null;
  opened: ConversationFollower | null;
  problem: StorageProblem | undefined;
};

export function createConversationFollowers(
  context: FollowerContext & { readonly logger: Pick<Logger, 'error'> },
): ConversationFollowers {
  const followed = new Map<string, FollowedConversation>();
  const waiting = new Map<string, Set<() => void>>();
  let isClosed = false;
  let running: Promise<void> | null = null;
  let ticks = 0;

  const wake = (sessionId: string) => {
    const woken = waiting.get(sessionId);
    waiting.delete(sessionId);
    for (const resolve of woken ?? []) resolve();
  };

  const open = (sessionId: string, state: FollowedConversation): Promise<ConversationFollower | null> => {
    state.follower ??= findFollowedSession(context.db, sessionId)
      .then((session) => (session === undefined ? null : openFollower(context, session, state.instanceId)))
      .then((follower) => {
        state.opened = follower;
        return follower;
      })
      .catch((error: unknown) => {
        state.follower = null;
        throw error;
      });
    return state.follower;
  };

  /** Reads the next part of one conversation. Returns whether there is more. */
  const step = async (sessionId: string, state: FollowedConversation): Promise<boolean> => {
    const follower = await open(sessionId, state);
    const outcome = follower === null ? 'unknown' : await follower.step();
    // Nothing is followed at the level `off`, or the instance has been removed.
    if (outcome === 'unknown' && followed.get(sessionId) === state) followed.delete(sessionId);
    if (outcome === 'stored' || outcome === 'more') wake(sessionId);
    return outcome === 'more';
  };

  /** Runs steps of one conversation one after the other. */
  const inTurn = <T>(state: FollowedConversation, work: () => Promise<T>): Promise<T> => {
    const next = state.last.then(work);
    state.last = next.catch(() => undefined);
    return next;
  };

  const stepOrLog = async (sessionId: string, state: FollowedConversation) => {
    try {
      await inTurn(state, () => step(sessionId, state));
      state.problem = undefined;
    } catch (error) {
      // Report only the first of consecutive errors, because every step fails while the disk is full.
      if (state.problem === undefined)
        context.logger.error({ err: error, sessionId }, 'conversation could not be stored');
      state.problem = isFullDisk(error) ? 'disk-full' : 'failed';
    }
  };

  const tick = async () => {
    const isIdleTick = ticks % (idleMs / watchedMs) === 0;
    ticks += 1;
    for (const [sessionId, state] of [...followed]) {
      if (isClosed) return;
      if (isIdleTick || waiting.has(sessionId)) await stepOrLog(sessionId, state);
    }
  };

  const timer = setInterval(() => {
    if (followed.size === 0) return;
    running ??= tick().finally(() => {
      running = null;
    });
  }, watchedMs);

  const finishFollowed = async (sessionId: string, state: FollowedConversation) => {
    await inTurn(state, async () => {
      while (await step(sessionId, state));
      await (await open(sessionId, state))?.end();
    });
    if (followed.get(sessionId) === state) followed.delete(sessionId);
    wake(sessionId);
  };

  return {
    begin: (sessionId, instanceId) => {
      if (followed.has(sessionId) || isClosed) return;
      followed.set(sessionId, createFollowed(instanceId));
    },
    receive: async (sessionId, event) => {
      const state = followed.get(sessionId);
      if (state === undefined) return 'unknown';
      return inTurn(state, async () => {
        // Read what the bot itself has written, so that its conversation is not recorded twice.
        await step(sessionId, state);
        const outcome = (await (await open(sessionId, state))?.receive(event)) ?? 'unknown';
        if (outcome === 'stored') wake(sessionId);
        return outcome;
      });
    },
    finish: async (instanceId) => {
      const known = [...followed].find(([, state]) => state.instanceId === instanceId);
      try {
        if (known !== undefined) return await finishFollowed(...known);
        const session = await context.retryWrite(() => findFollowedSessionOfInstance(context.db, instanceId));
        if (session !== undefined) await finishFollowed(session.id, createFollowed(instanceId));
      } catch (error) {
        if (isClosed || isFullDisk(error)) throw error;
        context.logger.error({ err: error, instanceId }, 'conversation not stored');
        if (known !== undefined) followed.delete(known[0]);
      }
    },
    numbers: (sessionId) => followed.get(sessionId)?.opened?.numbers() ?? null,
    storageProblem: (sessionId) => followed.get(sessionId)?.problem,
    changed: (sessionId, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const waiters = waiting.get(sessionId) ?? new Set();
        waiting.set(sessionId, waiters);
        const done = () => {
          signal.removeEventListener('abort', done);
          waiters.delete(done);
          if (waiters.size === 0 && waiting.get(sessionId) === waiters) waiting.delete(sessionId);
          resolve();
        };
        waiters.add(done);
        signal.addEventListener('abort', done, { once: true });
      }),
    close: async () => {
      isClosed = true;
      clearInterval(timer);
      await running;
      await Promise.all([...followed.values()].map(({ last }) => last));
    },
  };
}

function createFollowed(instanceId: string): FollowedConversation {
  return { instanceId, last: Promise.resolve(), follower: null, opened: null, problem: undefined };
}

/** Whether the disk of the service or that of the database is full. */
function isFullDisk(error: unknown): boolean {
  return isDiskFullError(error) || isFileSystemFull(error);
}
