import type { AgentDetails } from '@bothost/contract';
import { sql } from 'kysely';
import type { Database } from '../store/tables.ts';

const hourMs = 3_600_000;

/** Measures how well the warm pool of an agent serves its sessions. */
export async function readRecentStarts(
  { db, now }: { readonly db: Database; readonly now: () => Date },
  agentId: string,
): Promise<AgentDetails['recentStarts']> {
  const since = new Date(now().getTime() - hourMs);
  const { rows } = await sql<NonNullable<AgentDetails['recentStarts']>>`
    select count(*)::int as count, count(*) filter (where not cold_start)::int as warm,
      (select percentile_disc(0.5) within group (order by round(extract(epoch from ready_at - created_at) * 1000)::int)
        from instances where agent_id = ${agentId} and state <> 'ended' and ready_at is not null) as "instanceStartMs"
    from sessions where agent_id = ${agentId} and created_at >= ${since} and bot_started_at is not null`.execute(db);
  return rows[0];
}
