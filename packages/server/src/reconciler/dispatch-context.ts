import { createBotRequest, recordMeetings } from '../rooms/session-room.ts';
import type { AdoptionContext } from './adopt-session.ts';
import type { ReconcilerContext } from './context.ts';
import { drainBot } from './drain-bot.ts';
import { startDeadline } from './start-deadline.ts';
import { type WatchedSession, watchStart } from './watch-start.ts';

type Parts = ReconcilerContext &
  Pick<AdoptionContext, 'closing' | 'endSession' | 'recordBotFailure' | 'replaceInstance' | 'isInstanceReachable'>;

/** Creates what is needed to give sessions to bots and to follow them, from the parts of the reconciler. */
export function createDispatchContext(parts: Parts): AdoptionContext {
  const { sessionAddresses, logger, runtime, sampler, conversationFollowers, telemetry, closing, retryWrite } = parts;
  const isReachable = (sessionId: string) => sessionAddresses.known(sessionId) !== undefined;
  const watch = (session: WatchedSession) => {
    watchStart({ ...parts, isReachable }, session).catch((error: unknown) => {
      if (!closing.aborted)
        logger.error({ err: error, sessionId: session.id }, 'start of session could not be recorded');
    });
  };
  return {
    ...parts,
    createRoomRequest: (session) =>
      retryWrite(() => createBotRequest(parts, session)).catch((error: unknown) => {
        if (closing.aborted) throw error;
        logger.error({ err: error, sessionId: session.id }, 'room of session could not be read');
        return null;
      }),
    recordMeetings: (sessionId, meetings) => retryWrite(() => recordMeetings(parts.db, sessionId, meetings)),
    acceptDeadline: startDeadline,
    isReachable,
    watchStart: watch,
    drainBot: (session, limit) => drainBot(parts, session, limit),
    onDispatch: ({ id, instanceId }) => {
      runtime.sessionOpening(instanceId);
      sampler.begin(id, instanceId);
      conversationFollowers.begin(id, instanceId);
    },
    onOpen: sessionAddresses.opened,
    onLive: (session, startedAt) => {
      telemetry.botStarted({ ...session, startedAt });
      logger.info({ sessionId: session.id }, 'session started');
    },
  };
}
