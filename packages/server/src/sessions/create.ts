import {
  type ConversationLevel,
  createApiError,
  getLowerConversationLevel,
  type PhoneCarrier,
} from '@bothost/contract';
import {
  lockAgentForSessionStart,
  type ServingDeployment,
  type SessionStartContext,
} from '../agents/serving-deployment.ts';
import { appendAudit } from '../audit/append.ts';
import { type Actor, organizationEventFields } from '../audit/chain.ts';
import type { InstanceClaim } from '../instances/claim.ts';
import { keepSessionRoom, type NewSessionRoom } from '../rooms/session-room.ts';
import type { SessionTransport } from '../store/tables.ts';
import { runInQuicklyUnlockedTransaction } from '../store/transaction.ts';
import { claimInstanceForSession, type InstanceClaimRequest, type SessionClaimContext } from './claim.ts';
import { hasSessionOfPhoneCall, insertSession, type NewSession, setDispatchTime } from './rows.ts';

type Context = SessionClaimContext & SessionStartContext;

export type SessionStartInput = {
  readonly sessionId: string;
  readonly organizationId: string;
  readonly agentName: string;
  readonly transport: SessionTransport;
  /** The request body, as JSON text of an object. Null if there is none. */
  readonly body: string | null;
  /** The highest conversation level that the client allows. Null if it names none. */
  readonly maxConversationLevel: ConversationLevel | null;
  readonly requestedAt: Date;
  /** The room that was created for the session. Null for a transport without rooms. */
  readonly room: NewSessionRoom | null;
  /** Who started the session, for the audit log. Null for a start with a public key, which the audit log does not record. */
  readonly auditActor: Actor | null;
  /** The phone call whose carrier connects to the session with a token, even if the agent requires none. */
  readonly phoneCall?: { readonly carrier: PhoneCarrier; readonly callId: string };
};

/** `deployment` has the conversation level of the session. `dispatchedAt` is null if the dispatch is not recorded yet. */
export type StartedSession = {
  readonly deployment: ServingDeployment;
  readonly claim: InstanceClaim | null;
  readonly dispatchedAt: Date | null;
};

/**
 * Creates a session and claims its instance in one transaction, so that neither exists without the other. A WebSocket
 * start claims no instance until its client connects. If the instance is ready and its bot reports its session, so that a recorded
 * dispatch can be verified, also records the dispatch.
 *
 * @throws failure `not-found`, `deployment-not-ready`, `at-capacity`, `secrets-unavailable`, `body-needs-token`,
 * `level-needs-token`, `rooms-timeout`, `call-repeated` if the phone call already has a session
 */
export function createSession(context: Context, input: SessionStartInput): Promise<StartedSession> {
  return runInQuicklyUnlockedTransaction(context.db, async (db) => {
    const deployment = await lockServingDeployment({ ...context, db }, input);
    const waits = input.transport === 'websocket';
    const { phoneCall } = input;
    // The lock of the agent prevents that the same call gets a session at the same time.
    if (phoneCall !== undefined && (await hasSessionOfPhoneCall(db, deployment.agentId, phoneCall)))
      throw createApiError('call-repeated');
    // Without a token, a client cannot name a session, so the session is created only when the client connects.
    if (waits && deployment.websocketAuth === 'none' && phoneCall === undefined) return { deployment, ...unclaimed };
    const now = context.now();
    const row: NewSession = {
      id: input.sessionId,
      organization_id: input.organizationId,
      agent_id: deployment.agentId,
      deployment_id: deployment.deploymentId,
      state: waits ? 'waiting' : 'starting',
      transport: input.transport,
      body: input.body,
      conversation_level: deployment.conversationLevel,
      conversation_redact: deployment.conversationRedact,
      phone_carrier: phoneCall?.carrier ?? null,
      phone_call: phoneCall?.callId ?? null,
      created_at: input.requestedAt,
      updated_at: now,
      requested_at: waits ? null : input.requestedAt,
      claimed_at: waits ? null : now,
    };
    if (waits) await insertSession(row).execute(db);
    const claimed = waits ? unclaimed : await insertAndClaim({ ...context, db }, { ...input, ...deployment }, row);
    if (input.room !== null) await keepSessionRoom(db, input.sessionId, input.room);
    if (input.auditActor !== null) {
      await appendAudit(db, input.organizationId, {
        ...organizationEventFields,
        at: now,
        actor: input.auditActor,
        action: 'sessions.start',
        object: input.sessionId,
        keys: [input.agentName],
        result: 'done',
      });
    }
    return { deployment, ...claimed };
  });
}

const unclaimed = { claim: null, dispatchedAt: null };

async function insertAndClaim(context: Context, request: InstanceClaimRequest, row: NewSession) {
  const now = context.now();
  const claim = await claimInstanceForSession(context, request, insertSession(row, { ifReady: now }));
  const { address, readyAt, reportsSession } = claim;
  const isRecorded = readyAt !== null && reportsSession;
  if (isRecorded && address === null) await setDispatchTime(context.db, row.id, null);
  return { claim, dispatchedAt: isRecorded && address !== null ? now : null };
}

/**
 * Returns the deployment that a session would have if it started now.
 *
 * @throws failure `not-found`, `deployment-not-ready`
 */
export function findServingDeployment(
  context: SessionStartContext,
  input: Pick<SessionStartInput, 'organizationId' | 'agentName' | 'transport' | 'body' | 'maxConversationLevel'>,
): Promise<ServingDeployment> {
  return context.db.transaction().execute((db) => lockServingDeployment({ ...context, db }, input));
}

async function lockServingDeployment(
  context: SessionStartContext,
  input: Parameters<typeof findServingDeployment>[1],
): Promise<ServingDeployment> {
  const deployment = await lockAgentForSessionStart(context, input.organizationId, input.agentName);
  if (deployment === 'not-found') throw createApiError('not-found');
  if (deployment === 'not-ready') throw createApiError('deployment-not-ready');
  if (input.transport === 'websocket' && deployment.websocketAuth === 'none' && input.body !== null) {
    throw createApiError('body-needs-token');
  }
  const { maxConversationLevel: most } = input;
  if (most === null) return deployment;
  const conversationLevel = getLowerConversationLevel(deployment.conversationLevel, most);
  const isLowered = conversationLevel !== deployment.conversationLevel;
  if (isLowered && input.transport === 'websocket' && deployment.websocketAuth === 'none') {
    throw createApiError('level-needs-token');
  }
  return { ...deployment, conversationLevel };
}
