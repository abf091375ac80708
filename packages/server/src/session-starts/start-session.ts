import type { StartResponse } from '@bothost/contract';
import type { ServiceContext } from '../context.ts';
import type { Principal } from '../organizations/authenticate.ts';
import { requireSessionStarter } from '../organizations/members.ts';
import { yieldToBotRequest } from '../reconciler/bot-http.ts';
import { takeSession } from '../reconciler/take-session.ts';
import { abandonSessionRoom } from '../rooms/session-room.ts';
import { createSession, type SessionStartInput, type StartedSession } from '../sessions/create.ts';
import { abandonSession } from './abandon-session.ts';
import { createRoom } from './create-room.ts';
import { parseStartRequest, type StartRequest } from './parse-start-request.ts';
import { createStartResponse } from './start-response.ts';

type StartContext = Pick<
  ServiceContext,
  | 'newId'
  | 'now'
  | 'logger'
  | 'disk'
  | 'sessionAddresses'
  | 'telemetry'
  | 'ownership'
  | 'reconciler'
  | 'socketTokenKey'
  | 'iceServersOf'
  | 'refuseForCapacity'
> &
  Parameters<typeof createSession>[0] &
  Parameters<typeof createRoom>[0];
type StartOptions = {
  readonly request: StartRequest;
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

/** Starts a session. Resolves when it is stored and has claimed an instance; if that is warm, it is dispatched too. */
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
  const { request, requestedAt, isMember } = options;
  const { transport, body } = parseStartRequest(request);
  context.disk.require(0);
  const session = {
    sessionId: context.newId(),
    organizationId: caller.organizationId,
    agentName,
    transport,
    body,
    maxConversationLevel: request.maxConversationLevel ?? null,
    requestedAt,
    auditActor: isMember ? caller : null,
  };
  const input = { ...session, room: await createRoom(context, session, options) };
  const create = () => createAndClaim(context, input);
  try {
    return await takeSession(context, session.sessionId, create, async ({ started }) => {
      await begin(context, input, started);
      const wantsIceServers = request.enableDefaultIceServers === true;
      const { deployment } = started;
      const response = createStartResponse(context, caller, { ...session, isMember, wantsIceServers, deployment });
      return selectFields({ ...response, ...input.room?.response }, options.fields);
    });
  } catch (error) {
    await cleanUp(context, input, error);
    throw error;
  }
}

async function createAndClaim(context: StartContext, input: SessionStartInput) {
  const started = await createSession(context, input);
  const { organizationId, agentName } = input;
  const { claim } = started;
  const entry = claim && { organizationId, agentName, instanceId: claim.instanceId, address: claim.address };
  // If the instance is not ready yet, the reconciler takes the session when it is.
  return { started, entry, isServedHere: entry !== null && entry.address !== null };
}

/** Dispatches the session if its instance is ready. */
async function begin(
  { telemetry, reconciler, now }: StartContext,
  { sessionId, organizationId, transport, requestedAt, body }: SessionStartInput,
  { claim, deployment, dispatchedAt }: StartedSession,
): Promise<void> {
  if (transport === 'websocket') {
    // If the agent accepts WebSocket connections without a token, the session is created only when a client connects.
    if (deployment.websocketAuth !== 'none') telemetry.sessionStarted('waiting');
    return;
  }
  if (claim === null) return;
  const { instanceId, address, readyAt, reportsSession } = claim;
  telemetry.sessionStarted(address === null ? 'cold' : 'warm');
  if (address === null) {
    reconciler.requestReconcile();
    return;
  }
  reconciler.dispatch({
    id: sessionId,
    instanceId,
    address,
    reportsSession,
    organizationId,
    transport,
    maxSeconds: deployment.maxSessionSeconds,
    conversationLevel: deployment.conversationLevel,
    conversationRedact: deployment.conversationRedact,
    cold: false,
    requestedAt,
    claimedAt: now(),
    readyAt,
    body,
    dispatchedAt,
    botStartedAt: null,
  });
  await yieldToBotRequest();
}

/** Ends what a failed start may have left: its session and its room. */
async function cleanUp(context: StartContext, input: SessionStartInput, error: unknown): Promise<void> {
  const { sessionId, room } = input;
  abandonSession(context, sessionId, error);
  if (room !== null)
    // The client gets the error of the start. If this fails, too, the room is deleted a minute after its creation.
    await abandonSessionRoom(context, sessionId).catch((failure: unknown) =>
      context.logger.warn({ sessionId, err: failure }, 'deletion of an unused room could not be scheduled'),
    );
  await context.refuseForCapacity(input, error);
}

function selectFields(response: StartResponse, fields: readonly (keyof StartResponse)[] | undefined): StartResponse {
  if (fields === undefined) return response;
  return Object.fromEntries(Object.entries(response).filter(([name]) => fields.some((field) => field === name)));
}
