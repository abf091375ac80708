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
import { takeSession } from '../reconciler/take-session.ts';
import { createStartHeaders } from '../sessions/bot-headers.ts';
import { type ConnectedSession, connectSession, connectSessionWithoutToken } from '../sessions/connect.ts';
import { markLive, recordEvents, recordStartMoments, type StartMoments } from '../sessions/progress.ts';
import type { RelayedSocketEnd } from '../sessions/relayed-socket-end.ts';
import { abandonSession } from './abandon-session.ts';
import { verifyToken } from './socket-token.ts';

type NamedAgent = { readonly agentName: string; readonly organizationName: string };

/** The agent to which a client wants to connect, and the session of the client's token. Null if it has no valid token. */
export type WebSocketTarget = NamedAgent & {
  readonly tokenSession: string | null;
  readonly carrier: PhoneCarrier | null;
};

export type WebSocketSession = {
  readonly sessionId: string;
  /** Whether a token named the session. */
  readonly hasToken: boolean;
  /**
   * Resolves with the instance's address once the instance is ready. Resolves with null if the instance does not become ready.
   */
  readonly address: (signal: AbortSignal) => Promise<BotAddress | null>;
  /** Returns headers that only the service may send to the bot. Call this after `address`. */
  readonly headers: () => Readonly<Record<string, string>>;
  /**
   * Gives the session another instance, because the bot could not be reached. Returns false if the session gets none.
   */
  readonly replaceInstance: (cause: string) => Promise<boolean>;
  readonly live: () => Promise<void>;
  /** The caller must call this when the bot sends its first message: the instance then gets its normal CPU limit. */
  readonly onFirstMessage: () => void;
  /** Records the bot's HTTP response in the session if the bot rejected the WebSocket. */
  readonly refused: (response: { readonly status: number; readonly phrase: string }) => Promise<void>;
  /** Ends a session whose WebSocket was not relayed. */
  readonly finish: (status: SessionCompletionStatus) => Promise<void>;
  readonly finishRelayed: (end: RelayedSocketEnd) => Promise<void>;
  /** Registers a callback that is called when the session is stopped. */
  readonly onStop: (abort: () => void) => void;
  /** Registers a callback that is called when the session's instance has exited or the session has ended. */
  readonly onUnreachable: (listener: () => void) => void;
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
  | 'sampler'
  | 'conversationFollowers'
  | 'closing'
>;
type ConnectContext = SocketParts &
  Pick<ServiceContext, 'newId' | 'disk' | 'isDraining' | 'refuseForCapacity'> &
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
  const { agentName, carrier, tokenSession } = requested;
  const target = { organizationId: organization.id, agentName, carrier, requestedAt };
  // If a client is already connected to the session, its token was used before.
  if (tokenSession !== null && !context.ownership.has(tokenSession)) {
    try {
      return await connect(context, { ...target, sessionId: tokenSession, hasToken: true });
    } catch (error) {
      if (!(error instanceof ApiError && error.reason === 'token-invalid')) throw error;
    }
  }
  // An agent that requires no token ignores tokens. Any other agent refuses this client.
  return connect(context, { ...target, sessionId: context.newId(), hasToken: false });
}

async function connect(context: ConnectContext, target: SocketTarget): Promise<WebSocketSession> {
  const { organizationId, agentName, sessionId, hasToken } = target;
  const connectClient = async () => {
    const connected = await (hasToken ? connectSession : connectSessionWithoutToken)(context, target);
    const { instanceId, address } = connected.claim;
    return { ...connected, entry: { organizationId, agentName, instanceId, address }, isServedHere: true };
  };
  try {
    return await takeSession(context, sessionId, connectClient, ({ claim, ...session }) => {
      context.telemetry.sessionStarted(claim.address === null ? 'cold' : 'warm');
      return createSocketSession(context, target, claim, session);
    });
  } catch (error) {
    abandonSession(context, sessionId, error);
    await context.refuseForCapacity(target, error);
    throw error;
  }
}

export function findTokenSession(
  context: Pick<ServiceContext, 'now' | 'socketTokenKey'>,
  { agentName, organizationName }: NamedAgent,
  token: string,
): string | null {
  const payload = verifyToken(context.socketTokenKey, token, context.now());
  const fits = payload !== null && payload.agent === agentName && payload.org === organizationName;
  return fits ? payload.session : null;
}

type SocketTarget = {
  readonly organizationId: string;
  readonly agentName: string;
  readonly sessionId: string;
  readonly hasToken: boolean;
  readonly carrier: PhoneCarrier | null;
  readonly requestedAt: Date;
};

function createSocketSession(
  context: SocketParts,
  target: SocketTarget,
  claim: InstanceClaim,
  { maxSessionSeconds: maxSeconds, conversationLevel, conversationRedact }: Omit<ConnectedSession, 'claim'>,
): WebSocketSession {
  const { sessionId, hasToken, carrier, requestedAt } = target;
  let { instanceId } = claim;
  const cold = claim.address === null;
  // The instance may have become ready just before the session began to wait for it. Request a reconcile pass, which reads the
  // instance's address again. Otherwise, the client would wait for the next periodic pass.
  context.reconciler.requestReconcile();
  const claimedAt = context.now();
  let { address, readyAt } = claim;
  let startedAt: Date | null = null;
  const recordMoments = (moments: StartMoments) =>
    context.retryWrite(() => recordStartMoments(context.db, sessionId, moments));
  return {
    sessionId,
    hasToken,
    headers: () =>
      createStartHeaders({
        id: sessionId,
        transport: carrier ?? 'websocket',
        maxSeconds,
        conversationLevel,
        conversationRedact,
        controlToken: deriveControlToken(context.controlTokenKey, instanceId),
      }),
    replaceInstance: async (cause) =>
      (await context.reconciler.replaceInstance({ id: sessionId, instanceId }, cause)) !== null,
    address: async (signal) => {
      address = await context.sessionAddresses.whenReady(sessionId, signal);
      // The session may have another instance by now.
      instanceId = context.sessionAddresses.known(sessionId)?.instanceId ?? instanceId;
      readyAt ??= context.now();
      if (address !== null) {
        context.runtime.sessionOpening(instanceId);
        context.sampler.begin(sessionId, instanceId);
        context.conversationFollowers.begin(sessionId, instanceId);
      }
      return address;
    },
    live: async () => {
      const at = context.now();
      startedAt = at;
      context.sessionAddresses.opened(sessionId);
      context.telemetry.botStarted({ cold, requestedAt, claimedAt, readyAt, startedAt: at });
      context.logger.info({ sessionId, ...(carrier === null ? {} : { carrier }) }, 'session started');
      await context.retryWrite(() =>
        markLive(context, sessionId, { at, readyAt, cold, moments: { transportConnectedAt: at } }),
      );
      if (address !== null)
        context.reconciler.watchStart({ id: sessionId, instanceId, address, transport: 'websocket', requestedAt });
    },
    onFirstMessage: () => {
      context.runtime.sessionOpened(instanceId);
      recordMoments({ firstFrameAt: context.now() }).catch((error: unknown) =>
        context.logger.error({ sessionId, err: error }, 'first frame of session could not be recorded'),
      );
    },
    refused: ({ status, phrase }) => {
      const event = { code: 'SOCKET_REFUSED', at: context.now().toISOString(), detail: { status, phrase } } as const;
      return context.retryWrite(() => recordEvents(context.db, sessionId, [event]));
    },
    // A server that shuts down closes the sockets itself, so neither the client nor the bot ended the session.
    finish: (status) =>
      context.reconciler.endSession(sessionId, context.closing.aborted ? 'SERVICE_INTERRUPTED' : status),
    finishRelayed: (end) =>
      context.reconciler.endRelayedSession(
        { id: sessionId, instanceId, address, startedAt, maxSeconds },
        context.closing.aborted ? { by: 'service' } : end,
      ),
    onStop: (abort) => context.ownership.onAbort(sessionId, abort),
    onUnreachable: (listener) => {
      context.sessionAddresses.onUnreachable(sessionId, listener);
    },
  };
}
