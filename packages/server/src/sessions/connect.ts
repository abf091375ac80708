import { failure } from '@bothost/contract';
import type { RawBuilder } from 'kysely';
import { lockForStart } from '../agents/deployment.ts';
import type { Claim } from '../instances/claim.ts';
import { type ClaimContext, type ClaimingSession, claimForSession } from './claim.ts';
import { changeSession, insertSession } from './rows.ts';

type Context = ClaimContext & {
  host: { readonly region: string };
  /** This server process, which relays the socket. */
  serverId: string;
};

export type Connected = { readonly claim: Claim; readonly maxSessionSeconds: number };

/** For the log: where a call of a carrier's goes silent, its operator has nothing else to go by. */
const wantsToken =
  'the agent takes sockets with a token only: stream to wsUrl/token of a start request, or set websocket_auth = "none"';

type Target = { readonly organizationId: string; readonly agentName: string };

/**
 * The client of a WebSocket start has come: its session takes an instance. The change from `waiting` is what makes a token
 * good for one use, on all servers together. At capacity nothing is changed, so the client may try again with its token.
 *
 * @throws failure `token-invalid`, `at-capacity`, `secrets-unavailable`
 */
export function connectSession(context: Context, target: Target & { sessionId: string }): Promise<Connected> {
  return context.db.transaction().execute(async (db) => {
    const deployment = await lockForStart(db, target.organizationId, target.agentName, context.host.region);
    if (typeof deployment === 'string') throw failure('token-invalid');
    const now = context.now();
    const session = await changeSession(db, target.sessionId, ['waiting'], {
      state: 'starting',
      deployment_id: deployment.deploymentId,
      relay_id: context.serverId,
      requested_at: now,
      claimed_at: now,
      updated_at: now,
    });
    if (session === undefined || session.agent_id !== deployment.agentId) throw failure('token-invalid');
    return claim({ ...context, db }, { ...target, sessionId: session.id, ...deployment });
  });
}

/**
 * A client of an agent that asks for no token (`websocket_auth = "none"`): the session is made at the connection.
 *
 * @throws failure `token-invalid` (the agent wants one, or nothing serves), `at-capacity`, `secrets-unavailable`
 */
export function connectWithoutToken(context: Context, target: Target & { sessionId: string }): Promise<Connected> {
  return context.db.transaction().execute(async (db) => {
    const deployment = await lockForStart(db, target.organizationId, target.agentName, context.host.region);
    // An agent that is not there is told like one that wants a token: paths of sockets need no key (invariant 7).
    if (typeof deployment === 'string') throw failure('token-invalid', { cause: new Error(deployment) });
    if (deployment.websocketAuth !== 'none') throw failure('token-invalid', { cause: new Error(wantsToken) });
    const now = context.now();
    const session = insertSession({
      id: target.sessionId,
      organization_id: target.organizationId,
      agent_id: deployment.agentId,
      deployment_id: deployment.deploymentId,
      state: 'starting',
      transport: 'websocket',
      relay_id: context.serverId,
      created_at: now,
      updated_at: now,
      requested_at: now,
      claimed_at: now,
    });
    return claim({ ...context, db }, { ...target, ...deployment }, session);
  });
}

async function claim(
  context: Context,
  wanted: ClaimingSession & { readonly maxSessionSeconds: number },
  first?: RawBuilder<unknown>,
): Promise<Connected> {
  return { claim: await claimForSession(context, wanted, first), maxSessionSeconds: wanted.maxSessionSeconds };
}
