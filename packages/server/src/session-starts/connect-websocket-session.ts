import {
  ApiError,
  createApiError,
  type PhoneCarrier,
  resourceNamePattern,
  type SessionCompletionStatus,
} from '@bothost/contract';
import type { ServiceContext } from '../context.ts';
import type { BotAddress } from '../instances/address.ts';
import type { InstanceClaim } from '../instances/claim.ts';
import { deriveControlToken } from '../instances/control-token.ts';
import { findOrganizationByName } from '../organizations/find.ts';
import { createStartHeaders } from '../sessions/bot-headers.ts';
import { connectSession, connectSessionWithoutToken } from '../sessions/connect.ts';
import { markLive, recordEvents } from '../sessions/progress.ts';
import { abandonSession } from './abandon-session.ts';
import { verifyToken } from './socket-token.ts';

/** The agent to which a client wants to connect, and the client's token. */
export type WebSocketTarget = {
  readonly agentName: string;
  readonly organizationName: string;
  readonly token: string | null;
  readonly carrier: PhoneCarrier | null;
};

/** The session of a connected client. */
export type WebSocketSession = {
  readonly sessionId: string;
  /**
   * Resolves with the instance's address once the instance is ready. Resolves with null if the instance does not become ready.
   */
  readonly address: (signal: AbortSignal) => Promise<BotAddress | null>;
  /** Headers that only the service may send to the bot. */
  readonly headers: Readonly<Record<string, string>>;
  readonly live: () => Promise<void>;
  /** The caller must call this when the bot sends its first message: the instance then gets its normal CPU limit. */
  readonly onFirstMessage: () => void;
  /** Records the bot's HTTP response in the session if the bot rejected the WebSocket. */
  readonly refused: (response: { readonly status: number; readonly phrase: string }) => Promise<void>;
  readonly finish: (status: SessionCompletionStatus) => Promise<void>;
  /** Registers a callback that is called when the session is stopped. */
  readonly onStop: (abort: () => void) => void;
};

type SocketParts = Pick<
  ServiceContext,
  | 'db'
  | 'now'
  | 'logger'
  | 'sessionAddresses'
  | 'ownership'
  | 'reconciler'
  | 'telemetry'
  | 'retryWrite'
  | 'controlTokenKey'
  | 'runtime'
>;
type ConnectContext = SocketParts &
  Pick<ServiceContext, 'newId' | 'disk' | 'isDraining' | 'socketTokenKey' | 'refuseForCapacity'> &
  Parameters<typeof connectSession>[0];

/**
 * Connects a client on `/ws/generic/...` or the WebSocket path of a phone carrier. Finds its session by the token, or
 * creates a session if the agent requires no token, then claims an instance.
 *
 * @throws failure `token-invalid`, `deployment-not-ready`, `at-capacity`, `shutting-down`, `storage-full`
 */
export async function connectWebSocketSession(
  context: ConnectContext,
  requested: WebSocketTarget,
): Promise<WebSocketSession> {
  if (context.isDraining()) throw createApiError('shutting-down');
  const requestedAt = context.now();
  // Do not query for an invalid name: it may contain a NUL character, which PostgreSQL rejects.
  if (![requested.organizationName, requested.agentName].every((name) => resourceNamePattern.test(name)))
    throw createApiError('token-invalid');
  const organization = await findOrganizationByName(context.db, requested.organizationName);
  if (organization === null) throw createApiError('token-invalid');
  context.disk.require(0);
  const { agentName, carrier } = requested;
  const sessionId = requested.token === null ? context.newId() : sessionOf(context, requested, requested.token);
  // A client is already connected to the session, so the token was used before.
  if (context.ownership.has(sessionId)) throw createApiError('token-invalid');
  context.ownership.acquire(sessionId);
  try {
    const target = { organizationId: organization.id, agentName, sessionId, carrier };
    const connect = requested.token === null ? connectSessionWithoutToken : connectSession;
    const { claim, maxSessionSeconds } = await connect(context, target);
    context.telemetry.sessionStarted(claim.address === null ? 'cold' : 'warm');
    return createSocketSession(context, target, claim, maxSessionSeconds, requestedAt);
  } catch (error) {
    context.ownership.release(sessionId);
    // End the session, because the transaction that claimed an instance for it may have been committed without a confirmation
    // from the database.
    if (!(error instanceof ApiError)) abandonSession(context, sessionId);
    await context.refuseForCapacity(organization.id, error);
    throw error;
  }
}

function sessionOf(
  context: Pick<ServiceContext, 'now' | 'socketTokenKey'>,
  requested: WebSocketTarget,
  token: string,
): string {
  const payload = verifyToken(context.socketTokenKey, token, context.now());
  const fits = payload !== null && payload.agent === requested.agentName && payload.org === requested.organizationName;
  if (!fits) throw createApiError('token-invalid');
  return payload.session;
}

function createSocketSession(
  context: SocketParts,
  target: { organizationId: string; agentName: string; sessionId: string; carrier: PhoneCarrier | null },
  claim: InstanceClaim,
  maxSeconds: number,
  requestedAt: Date,
): WebSocketSession {
  const { organizationId, agentName, sessionId, carrier } = target;
  const { instanceId } = claim;
  const cold = claim.address === null;
  context.sessionAddresses.expect({ organizationId, agentName, sessionId, instanceId, address: claim.address });
  // The instance may have become ready just before the session began to wait for it. Request a reconcile pass, which reads the
  // instance's address again. Otherwise, the client would wait for the next periodic pass.
  context.reconciler.requestReconcile();
  const claimedAt = context.now();
  let readyAt = claim.readyAt;
  return {
    sessionId,
    headers: createStartHeaders({
      id: sessionId,
      transport: carrier ?? 'websocket',
      maxSeconds,
      controlToken: deriveControlToken(context.controlTokenKey, instanceId),
    }),
    address: async (signal) => {
      const address = await context.sessionAddresses.whenReady(sessionId, signal);
      readyAt ??= context.now();
      if (address !== null) context.runtime.sessionOpening(instanceId);
      return address;
    },
    live: async () => {
      const startedAt = context.now();
      context.sessionAddresses.opened(sessionId);
      context.telemetry.botStarted({ cold, requestedAt, claimedAt, readyAt, startedAt });
      context.logger.info({ sessionId, ...(carrier === null ? {} : { carrier }) }, 'session started');
      await context.retryWrite(() => markLive(context, sessionId, { at: startedAt, readyAt, cold }));
    },
    onFirstMessage: () => context.runtime.sessionOpened(instanceId),
    refused: ({ status, phrase }) => {
      const event = { code: 'SOCKET_REFUSED', at: context.now().toISOString(), detail: { status, phrase } } as const;
      return context.retryWrite(() => recordEvents(context.db, sessionId, [event]));
    },
    finish: (status) => context.reconciler.endSession(sessionId, status),
    onStop: (abort) => context.ownership.acquire(sessionId, abort),
  };
}
