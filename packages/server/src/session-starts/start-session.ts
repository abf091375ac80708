import {
  ApiError,
  createApiError,
  getWebSocketBasePath,
  maxStartBodyBytes,
  type Operations,
  type RequestOf,
  type StartResponse,
  socketTokenLifetimeSeconds,
} from '@bothost/contract';
import type { ServiceContext } from '../context.ts';
import type { Principal } from '../organizations/authenticate.ts';
import { type StartedSession, startSession as start } from '../sessions/start.ts';
import type { SessionTransport } from '../store/tables.ts';
import { abandonSession } from './abandon-session.ts';
import { encodeBodyQueryParameter } from './body-parameter.ts';
import { signToken } from './socket-token.ts';

type Request = NonNullable<RequestOf<Operations['startSession']>['body']>;
type SessionParts = Pick<ServiceContext, 'now' | 'sessionAddresses' | 'telemetry' | 'ownership' | 'reconciler'>;
type StartContext = SessionParts &
  Pick<ServiceContext, 'newId' | 'logger' | 'disk' | 'socketTokenKey' | 'refuseForCapacity'> &
  Parameters<typeof start>[0];
type StartOptions = {
  readonly request: Request;
  readonly fields: readonly (keyof StartResponse)[] | undefined;
  readonly requestedAt: Date;
};

/**
 * Starts a session. Resolves when the session is stored and has claimed an instance. If the instance is warm, also
 * dispatches the session.
 */
export async function startSession(
  context: StartContext,
  caller: Principal,
  agentName: string,
  options: StartOptions,
): Promise<StartResponse> {
  const transport = transportOf(options.request);
  const body = bodyText(options.request.body, transport);
  context.disk.require(0);
  const sessionId = context.newId();
  // Make this server process the owner of the session before the session's row exists. Otherwise, a reconcile pass could find a
  // session without an owner and dispatch it, so that the bot gets the session twice.
  if (transport !== 'websocket') context.ownership.acquire(sessionId);
  try {
    const { organizationId } = caller;
    const input = { sessionId, organizationId, agentName, transport, body, requestedAt: options.requestedAt };
    const started = await start(context, input);
    if (transport !== 'websocket') begin(context, { ...input, transport }, started);
    // If the agent accepts WebSocket connections without a token, the session is created only when a client connects.
    else if (started.deployment.websocketAuth !== 'none') context.telemetry.sessionStarted('waiting');
    return narrow(answer(context, caller, agentName, { sessionId, transport, body, started, options }), options.fields);
  } catch (error) {
    context.ownership.release(sessionId);
    // End the session: its transaction may have been committed although the database did not confirm the commit. The
    // client does not know the session, so its bot must not run.
    if (!(error instanceof ApiError)) abandonSession(context, sessionId);
    await context.refuseForCapacity(caller.organizationId, error);
    throw error;
  }
}

function transportOf(request: Request): SessionTransport {
  const transport = request.transport ?? (request.createDailyRoom === true ? 'daily' : 'none');
  if (transport === 'daily') throw createApiError('hosted-rooms-unavailable');
  return transport;
}

function bodyText(body: unknown, transport: SessionTransport): string | null {
  if (body === undefined || body === null) return null;
  if (typeof body !== 'object' || Array.isArray(body)) throw createApiError('body-not-object');
  const text = JSON.stringify(body);
  const limit = transport === 'websocket' ? maxStartBodyBytes.websocket : maxStartBodyBytes.default;
  if (Buffer.byteLength(text) > limit) {
    throw createApiError('body-too-large', { message: `The body for the bot is larger than ${limit} bytes.` });
  }
  return text;
}

type Input = Parameters<typeof start>[1] & { readonly transport: Exclude<SessionTransport, 'websocket'> };

function begin(context: SessionParts, input: Input, { claim, deployment }: StartedSession): void {
  if (claim === null) return;
  const { sessionId, organizationId, agentName } = input;
  const { instanceId, address, readyAt, reportsSession } = claim;
  context.sessionAddresses.expect({ sessionId, organizationId, agentName, instanceId, address });
  context.telemetry.sessionStarted(address === null ? 'cold' : 'warm');
  if (address === null) {
    // Release the session, so that the reconciler can dispatch it when the session's instance is ready.
    context.ownership.release(sessionId);
    context.reconciler.requestReconcile();
    return;
  }
  context.reconciler.dispatch({
    id: sessionId,
    instanceId,
    address,
    reportsSession,
    transport: input.transport,
    maxSeconds: deployment.maxSessionSeconds,
    cold: false,
    requestedAt: input.requestedAt,
    claimedAt: context.now(),
    readyAt,
    body: input.body,
    dispatchedAt: null,
    botStartedAt: null,
  });
}

function answer(
  { socketTokenKey }: Pick<ServiceContext, 'socketTokenKey'>,
  caller: Principal,
  agentName: string,
  made: { sessionId: string; transport: string; body: string | null; started: StartedSession; options: StartOptions },
): StartResponse {
  const { sessionId, transport, body, started, options } = made;
  if (transport !== 'websocket') {
    return {
      sessionId,
      ...(options.request.enableDefaultIceServers === true ? { iceConfig: { iceServers: [] } } : {}),
    };
  }
  const wsUrl = `${caller.serviceUrl.replace(/^http/, 'ws')}${getWebSocketBasePath(null)}/${agentName}.${caller.organizationName}`;
  if (started.deployment.websocketAuth === 'none') return { wsUrl };
  const exp = Math.floor(options.requestedAt.getTime() / 1000) + socketTokenLifetimeSeconds;
  const token = signToken(socketTokenKey, {
    agent: agentName,
    org: caller.organizationName,
    session: sessionId,
    exp,
  });
  if (started.deployment.websocketStart === 'minimal') return { wsUrl, token };
  return { sessionId, wsUrl, token, ...(body === null ? {} : { body: encodeBodyQueryParameter(body) }) };
}

function narrow(response: StartResponse, fields: readonly (keyof StartResponse)[] | undefined): StartResponse {
  if (fields === undefined) return response;
  return Object.fromEntries(Object.entries(response).filter(([name]) => fields.some((field) => field === name)));
}
