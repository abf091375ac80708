import {
  ApiError,
  createApiError,
  isRoomTransport,
  JsonText,
  maxStartBodyBytes,
  type Operations,
  type RequestOf,
  type StartResponse,
} from '@bothost/contract';
import type { ServiceContext } from '../context.ts';
import type { Principal } from '../organizations/authenticate.ts';
import { requireSessionStarter } from '../organizations/members.ts';
import { takeSession } from '../reconciler/take-session.ts';
import { abandonSessionRoom } from '../rooms/session-room.ts';
import { createSession, type StartedSession } from '../sessions/create.ts';
import type { SessionTransport } from '../store/tables.ts';
import { abandonSession } from './abandon-session.ts';
import { createRoom } from './create-room.ts';
import { createStartResponse } from './start-response.ts';

type Request = NonNullable<RequestOf<Operations['startSession']>['body']>;
type SessionParts = Pick<ServiceContext, 'now' | 'sessionAddresses' | 'telemetry' | 'ownership' | 'reconciler'>;
type StartContext = SessionParts &
  Pick<ServiceContext, 'newId' | 'logger' | 'disk' | 'socketTokenKey' | 'iceServersOf' | 'refuseForCapacity'> &
  Parameters<typeof createSession>[0] &
  Parameters<typeof createRoom>[0];
type StartOptions = {
  readonly request: Request;
  readonly fields: readonly (keyof StartResponse)[] | undefined;
  readonly requestedAt: Date;
  /** The id of the phone call for which the session is started. Absent if it is started for no call. */
  readonly callId?: string;
};

/**
 * Starts a session for a person. The token in the response opens only this session. Its lifetime covers the longest start and
 * the longest session, but it opens nothing once the session has ended.
 *
 * @throws failure `forbidden`, and those of `startSession`
 */
export async function startMemberSession(
  context: StartContext,
  caller: Principal,
  agentName: string,
  options: Omit<StartOptions, 'fields'>,
): Promise<StartResponse> {
  await requireSessionStarter(context, caller);
  return start(context, caller, agentName, { ...options, fields: undefined, isMember: true });
}

/**
 * Starts a session with a public key. Resolves when the session is stored and has claimed an instance. If the instance is warm, also
 * dispatches the session.
 */
export function startSession(
  context: StartContext,
  caller: Principal,
  agentName: string,
  options: StartOptions,
): Promise<StartResponse> {
  return start(context, caller, agentName, { ...options, isMember: false });
}

async function start(
  context: StartContext,
  caller: Principal,
  agentName: string,
  options: StartOptions & { readonly isMember: boolean },
): Promise<StartResponse> {
  const transport = transportOf(options.request);
  const body = bodyText(options.request, transport);
  context.disk.require(0);
  const sessionId = context.newId();
  const { organizationId } = caller;
  const { requestedAt, isMember } = options;
  const auditActor = isMember ? caller : null;
  const maxConversationLevel = options.request.maxConversationLevel ?? null;
  const wanted = {
    sessionId,
    organizationId,
    agentName,
    transport,
    body,
    maxConversationLevel,
    requestedAt,
    auditActor,
  };
  const room = isRoomTransport(transport)
    ? await createRoom(context, { ...wanted, provider: transport }, options)
    : null;
  const input = { ...wanted, room };
  const claim = async () => {
    const started = await createSession(context, input);
    const { claim: instance } = started;
    const entry = instance && { organizationId, agentName, instanceId: instance.instanceId, address: instance.address };
    // If its instance is not ready yet, the reconciler takes the session when it is.
    return { started, entry, isServedHere: entry !== null && entry.address !== null };
  };
  try {
    return await takeSession(context, sessionId, claim, ({ started }) => {
      if (transport !== 'websocket') begin(context, { ...input, transport }, started);
      // If the agent accepts WebSocket connections without a token, the session is created only when a client connects.
      else if (started.deployment.websocketAuth !== 'none') context.telemetry.sessionStarted('waiting');
      const wantsIceServers = options.request.enableDefaultIceServers === true;
      const { deployment } = started;
      const response = createStartResponse(context, caller, { ...wanted, isMember, wantsIceServers, deployment });
      return narrow({ ...response, ...room?.response }, options.fields);
    });
  } catch (error) {
    // End the session: its transaction may have been committed although the database did not confirm the commit. The
    // client does not know the session, so its bot must not run.
    if (!(error instanceof ApiError)) abandonSession(context, sessionId);
    if (room !== null)
      // The client gets the error of the start. If this fails, too, the room is deleted a minute after its creation.
      await abandonSessionRoom(context, sessionId).catch((failure: unknown) =>
        context.logger.warn({ sessionId, err: failure }, 'deletion of an unused room could not be scheduled'),
      );
    await context.refuseForCapacity(input, error);
    throw error;
  }
}

/** With `createDailyRoom: false`, the caller has made a room at Daily itself, and names it in the body. */
function transportOf({ transport, createDailyRoom }: Request): SessionTransport {
  if (transport === 'daily' && createDailyRoom === false) return 'none';
  return transport ?? (createDailyRoom === true ? 'daily' : 'none');
}

/** Returns the unchanged text of the field `body` of the request. Null if there is none. */
function bodyText({ body }: Request, transport: SessionTransport): string | null {
  if (body === undefined) return null;
  if (!(body instanceof JsonText)) throw new TypeError('The operation does not declare the field "body" as verbatim.');
  const { text } = body;
  if (text === 'null') return null;
  if (!text.startsWith('{')) throw createApiError('body-not-object');
  const limit = maxStartBodyBytes.websocket;
  if (transport === 'websocket' && Buffer.byteLength(text) > limit) {
    const message = `The body for the bot is too large. With the transport "websocket", the limit is ${limit} bytes.`;
    throw createApiError('body-too-large', { message });
  }
  return text;
}

type Input = Parameters<typeof createSession>[1] & {
  readonly transport: Exclude<SessionTransport, 'websocket'>;
};

function begin(context: SessionParts, input: Input, { claim, deployment, dispatchedAt }: StartedSession): void {
  if (claim === null) return;
  const { instanceId, address, readyAt, reportsSession } = claim;
  context.telemetry.sessionStarted(address === null ? 'cold' : 'warm');
  if (address === null) {
    context.reconciler.requestReconcile();
    return;
  }
  context.reconciler.dispatch({
    id: input.sessionId,
    instanceId,
    address,
    reportsSession,
    organizationId: input.organizationId,
    transport: input.transport,
    maxSeconds: deployment.maxSessionSeconds,
    conversationLevel: deployment.conversationLevel,
    conversationRedact: deployment.conversationRedact,
    cold: false,
    requestedAt: input.requestedAt,
    claimedAt: context.now(),
    readyAt,
    body: input.body,
    dispatchedAt,
    botStartedAt: null,
  });
}

function narrow(response: StartResponse, fields: readonly (keyof StartResponse)[] | undefined): StartResponse {
  if (fields === undefined) return response;
  return Object.fromEntries(Object.entries(response).filter(([name]) => fields.some((field) => field === name)));
}
