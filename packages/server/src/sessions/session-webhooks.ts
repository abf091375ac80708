import type { Database } from '../store/tables.ts';
import { recordAgentEvent } from '../webhooks/record-event.ts';
import type { RefusingAgent } from './capacity-refusal.ts';
import { type EndedSessionRow, findAgentLimit, type SessionRow } from './rows.ts';

/** Records the event `session.started` for webhooks. Call this in the transaction that marks the session as live. */
export function recordSessionStart(db: Database, session: SessionRow, startedAt: Date): Promise<void> {
  const data = { ...describe(session), cold_start: session.cold_start };
  return recordAgentEvent(db, { ...about(session), event: 'session.started', at: startedAt, data });
}

/** Records the events of a session's end for webhooks. Call this in the transaction that ends the session. */
export async function recordSessionEnd(db: Database, session: EndedSessionRow): Promise<void> {
  const { bot_started_at: startedAt, ended_at: endedAt } = session;
  if (endedAt === null) return;
  const seconds = startedAt === null ? null : (endedAt.getTime() - startedAt.getTime()) / 1000;
  const data = {
    ...describe(session),
    completion_status: session.completion_status,
    end_state: session.end_state,
    started_at: startedAt?.toISOString() ?? null,
    ended_at: endedAt.toISOString(),
    duration_seconds: seconds,
  };
  const event = { ...about(session), at: endedAt, data };
  await recordAgentEvent(db, { ...event, event: 'session.ended' });
  if (session.failed) await recordAgentEvent(db, { ...event, event: 'session.failed' });
}

/** An agent's refusals within this time are one event. */
const refusalMs = 300_000;

export async function recordCapacityRefusal(
  { db, now }: { readonly db: Database; readonly now: () => Date },
  { organizationId, agentName }: RefusingAgent,
): Promise<void> {
  const agent = await findAgentLimit(db, organizationId, agentName);
  if (agent === undefined) return;
  const at = now();
  const occurrence = String(Math.floor(at.getTime() / refusalMs));
  const data = { max_agents: agent.max_agents };
  await recordAgentEvent(db, {
    event: 'agent.capacity_reached',
    agentId: agent.id,
    subject: agent.id,
    occurrence,
    at,
    data,
  });
}

const about = ({ id, agent_id: agentId }: SessionRow) => ({ subject: id, agentId });

const describe = (session: SessionRow) => ({
  session_id: session.id,
  deployment_id: session.deployment_id,
  transport: session.transport,
});
