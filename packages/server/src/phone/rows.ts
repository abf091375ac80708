import { type Insertable, sql } from 'kysely';
import type { Database, RefusedCallsTable } from '../store/tables.ts';

export async function insertRefusedCall(db: Database, row: Insertable<RefusedCallsTable>): Promise<void> {
  await db.insertInto('refused_calls').values(row).execute();
}

/** A phone call in a list. The session is null for a refused call. */
export type ListedCall = {
  readonly id: string;
  readonly at: Date;
  readonly carrier: RefusedCallsTable['carrier'];
  readonly agentName: string;
  readonly reason: string | null;
  readonly message: string | null;
  readonly sessionId: string | null;
  readonly result: 'answered' | 'connected' | 'failed' | 'refused';
};

/** An agent's calls, newest first: announced and refused ones, and the organization's refused calls without an agent. */
export async function listCallRows(
  db: Database,
  agent: { readonly id: string; readonly organizationId: string; readonly name: string },
  page: { readonly since: Date; readonly limit: number },
): Promise<ListedCall[]> {
  const { rows } = await sql<ListedCall>`
    (select id, created_at as at, phone_carrier as carrier, ${agent.name} as "agentName",
        case when transport_connected_at is null then completion_status end as reason, null as message, id as "sessionId",
        case when transport_connected_at is not null then 'connected' when state = 'ended' then 'failed' else 'answered' end
          as result
      from sessions where agent_id = ${agent.id} and phone_call is not null and created_at >= ${page.since}
      order by created_at desc limit ${page.limit})
    union all
    (select id, at, carrier, agent_name, reason, message, null, 'refused'
      from refused_calls where organization_id = ${agent.organizationId} and at >= ${page.since}
        and (agent_id = ${agent.id} or agent_id is null)
      order by at desc limit ${page.limit})
    order by at desc, id desc limit ${page.limit}`.execute(db);
  return rows;
}

/** Deletes at most `limit` refused calls before a time. Returns the number of deleted calls. */
export async function deleteRefusedCallsBefore(db: Database, before: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`delete from refused_calls where id in (
    select id from refused_calls where at < ${before} order by at limit ${limit})`.execute(db);
  return Number(numAffectedRows ?? 0);
}
