import { createApiError, refusedCallRateLimit } from '@bothost/contract';
import type { FastifyInstance } from 'fastify';
import { findSession } from '../accounts/sessions.ts';
import { findTokenOwner } from '../accounts/tokens.ts';
import { createBackup } from '../backup/create.ts';
import { createRateLimit } from '../concurrency/rate-limit.ts';
import type { Config } from '../config.ts';
import type { ServiceContext } from '../context.ts';
import { auditPlayback, openSessionRecording } from '../conversations/play-recording.ts';
import { createPlaybackRegister } from '../conversations/playbacks.ts';
import { publishedEventRateLimit, receivePublishedEvent } from '../conversations/receive-event.ts';
import { createApiOperationHandlers } from '../handlers.ts';
import { createApp } from '../http/app.ts';
import { createRequestClientResolver } from '../http/requests/request-client.ts';
import { findRole, listMemberships } from '../organizations/members.ts';
import { answerCall } from '../phone/answer-call.ts';
import { recordRefusedCall } from '../phone/record-refused-call.ts';
import { answerDialin } from '../session-starts/answer-dialin.ts';
import { connectWebSocketSession, findTokenSession } from '../session-starts/connect-websocket-session.ts';
import { findIceServersOfInstance } from '../sessions/ice-servers.ts';
import { mapErrorToFailure } from './map-error-to-failure.ts';
import { createOperatorTokenCheck } from './operator-token.ts';

/** Creates the HTTP server, which does not listen yet. `ownUrl` returns its URL once it listens. */
export async function createHttpServer(
  context: ServiceContext,
  config: Config,
  dataDirectory: string,
  ownUrl: () => string,
  findReadinessProblem: () => Promise<string | null>,
): Promise<FastifyInstance> {
  const { registry } = context.telemetry;
  const playback = { ...context, playbacks: createPlaybackRegister(context.now) };
  const publishedEventRate = createRateLimit(publishedEventRateLimit, context.now);
  const refusedCallRate = createRateLimit(refusedCallRateLimit, context.now);
  return createApp(
    {
      ...context,
      isOperator: await createOperatorTokenCheck(dataDirectory, config.secrets.operatorToken),
      people: {
        findSession: (accountRequest) => findSession(context, accountRequest),
        findTokenOwner: (token) => findTokenOwner(context, token),
        listOrganizationIds: async (userId) => (await listMemberships(context, userId)).map(({ id }) => id),
        findRole: (userId, organization) => findRole(context, userId, organization),
      },
      receivePublishedEvent: (sender, body) => receivePublishedEvent({ ...context, publishedEventRate }, sender, body),
      answerDialin: (announcement) => {
        if (context.isDraining()) throw createApiError('shutting-down');
        return answerDialin(context, announcement);
      },
      answerCall: (callRequest) => answerCall(context, callRequest),
      recordRefusedCall: (call) => recordRefusedCall({ ...context, refusedCallRate }, call),
      uploads: context.builds.uploads,
      resolveClient: createRequestClientResolver({ ...config, ownUrl }),
      createBackup: (withConversations) =>
        createBackup({ ...context, dataDirectory, outputLimitBytes: config.logSessionBytes }, { withConversations }),
      findIceServersOfInstance: (instanceId, secret) => findIceServersOfInstance(context, instanceId, secret),
      recordings: {
        open: (caller, target) => openSessionRecording(playback, caller, target),
        audit: (caller, recording, isStart) => auditPlayback(playback, caller, recording, isStart),
      },
      cors: { origins: config.corsOrigins },
      toFailure: mapErrorToFailure,
      verifyToken: (named, token) => findTokenSession(context, named, token),
      connect: (target) => connectWebSocketSession(context, target),
      probes: {
        findReadinessProblem,
        metrics: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
        metricsToken: config.secrets.metricsToken ?? null,
      },
    },
    createApiOperationHandlers(context),
  );
}
