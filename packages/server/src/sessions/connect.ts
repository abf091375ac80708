import { type ConversationLevel, createApiError } from '@bothost/contract';
import type { RawBuilder } from 'kysely';
import { lockAgentForSessionStart, type SessionStartContext } from '../agents/serving-deployment.ts';
import type { InstanceClaim } from '../instances/claim.ts';
import { runInQuicklyUnlockedTransaction } from '../store/transaction.ts';
import { claimInstanceForSession, type InstanceClaimRequest, type SessionClaimContext } from './claim.ts';
import { insertSession, type NewSession, updateSessionRow } from './rows.ts';

type Context = SessionClaimContext &
  SessionStartContext & {
    /** Id of the server process that relays the WebSocket. */
    serverId: string;
  };

type SessionLimits = {
  readonly maxSessionSeconds: number;
  readonly conversationLevel: ConversationLevel;
  readonly conversationRedact: readonly string[];
};
export type ConnectedSession = SessionLimits & { readonly claim: InstanceClaim };

/** Why a WebSocket without a token is rejected. The log shows it, because a phone carrier does not show the response. */
const rejections = {
  'not-found': 'The agent does not exist.',
  'not-ready': 'The agent has no ready deployment.',
  'wants-token':
    'The agent requires a valid token for WebSockets. For phone calls, use the URL that "botcli cloud phone" prints. Otherwise, use wsUrl/token from a start response, or set websocket_auth = "none".',
} as const;

type Target = { readonly organizationId: string; readonly agentName: string };

/**
 * Claims an instance for the waiting session of a WebSocket client. A token can be used only once across all servers, because
 * the session leaves the state `waiting`. If the agent is at capacity, nothing changes, so the client may retry with the same
 * token.
 *
 * @throws failure `token-invalid`, `at-capacity`, `secrets-unavailable`
 */
export function connectSession(context: Context, target: Target & { sessionId: string }): Promise<ConnectedSession> {
  return runInQuicklyUnlockedTransaction(context.db, async (db) => {
    const deployment = await lockAgentForSessionStart({ ...context, db }, target.organizationId, target.agentName);
    if (typeof deployment === 'string') throw createApiError('token-invalid');
    const now = context.now();
    const session = await updateSessionRow(db, target.sessionId, ['waiting'], {
      state: 'starting',
      deployment_id: deployment.deploymentId,
      relay_id: context.serverId,
      requested_at: now,
      claimed_at: now,
      updated_at: now,
    });
    if (session === undefined || session.agent_id !== deployment.agentId) throw createApiError('token-invalid');
    // A session that an earlier version created has no level yet.
    const conversationLevel = session.conversation_level ?? deployment.conversationLevel;
    const conversation = { conversationLevel, conversationRedact: session.conversation_redact };
    return claim({ ...context, db }, { ...target, sessionId: session.id, ...deployment, ...conversation });
  });
}

/**
 * Creates a session when a client connects to an agent that requires no token (`websocket_auth = "none"`).
 *
 * @throws failure `token-invalid` (the agent requires a token, or has no serving deployment), `at-capacity`,
 * `secrets-unavailable`
 */
export function connectSessionWithoutToken(
  context: Context,
  target: Target & { sessionId: string },
): Promise<ConnectedSession> {
  return runInQuicklyUnlockedTransaction(context.db, async (db) => {
    const deployment = await lockAgentForSessionStart({ ...context, db }, target.organizationId, target.agentName);
    // A missing agent gets the same response as an agent that requires a token. Otherwise, clients without a key could
    // find out which agents exist.
    if (typeof deployment === 'string')
      throw createApiError('token-invalid', { cause: new Error(rejections[deployment]) });
    if (deployment.websocketAuth !== 'none')
      throw createApiError('token-invalid', { cause: new Error(rejections['wants-token']) });
    const now = context.now();
    const row: NewSession = {
      id: target.sessionId,
      organization_id: target.organizationId,
      agent_id: deployment.agentId,
      deployment_id: deployment.deploymentId,
      state: 'starting',
      transport: 'websocket',
      relay_id: context.serverId,
      conversation_level: deployment.conversationLevel,
      conversation_redact: deployment.conversationRedact,
      created_at: now,
      updated_at: now,
      requested_at: now,
      claimed_at: now,
    };
    // The relay sends the session to its bot, and records no dispatch.
    const session = insertSession(row, { ifReady: null });
    return claim({ ...context, db }, { ...target, ...deployment }, session);
  });
}

async function claim(
  context: Context,
  request: InstanceClaimRequest & SessionLimits,
  insertion?: RawBuilder<unknown>,
): Promise<ConnectedSession> {
  const { maxSessionSeconds, conversationLevel, conversationRedact } = request;
  const claimed = await claimInstanceForSession(context, request, insertion);
  return { claim: claimed, maxSessionSeconds, conversationLevel, conversationRedact };
}
