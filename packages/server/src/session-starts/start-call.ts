import { createApiError, getWebSocketBasePath, type PhoneCarrier, socketTokenLifetimeSeconds } from '@bothost/contract';
import type { ServiceContext } from '../context.ts';
import { createSession } from '../sessions/create.ts';
import { abandonSession } from './abandon-session.ts';
import { signToken } from './socket-token.ts';

type CallStartContext = Pick<
  ServiceContext,
  'newId' | 'now' | 'logger' | 'disk' | 'socketTokenKey' | 'telemetry' | 'reconciler' | 'isDraining'
> &
  Parameters<typeof createSession>[0];

/** A phone call whose carrier asks where to stream it to. */
export type CallStart = {
  readonly organization: { readonly id: string; readonly name: string };
  readonly agentName: string;
  readonly carrier: PhoneCarrier;
  /** The carrier's id of the call. */
  readonly callId: string;
};

/**
 * Creates the session of a phone call and returns the path of its WebSocket, which contains a token. So only who got the path can
 * connect, once, and within the lifetime of the token. The session takes an instance when the carrier connects.
 *
 * @throws failure `call-repeated`, `not-found`, `deployment-not-ready`, `shutting-down`, `storage-full`
 */
export async function startCall(context: CallStartContext, call: CallStart): Promise<string> {
  if (context.isDraining()) throw createApiError('shutting-down');
  context.disk.require(0);
  const { organization, agentName, carrier, callId } = call;
  const requestedAt = context.now();
  const sessionId = context.newId();
  try {
    await createSession(context, {
      sessionId,
      organizationId: organization.id,
      agentName,
      transport: 'websocket',
      body: null,
      maxConversationLevel: null,
      requestedAt,
      auditActor: null,
      room: null,
      phoneCall: { carrier, callId },
    });
  } catch (error) {
    abandonSession(context, sessionId, error);
    throw error;
  }
  context.telemetry.sessionStarted('waiting');
  const token = signToken(context.socketTokenKey, {
    agent: agentName,
    org: organization.name,
    session: sessionId,
    exp: Math.floor(requestedAt.getTime() / 1000) + socketTokenLifetimeSeconds,
  });
  return `${getWebSocketBasePath(carrier)}/${agentName}.${organization.name}/${token}`;
}
