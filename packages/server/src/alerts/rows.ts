import { type Insertable, type Selectable, sql } from 'kysely';
import { sessionFailedSql } from '../sessions/end-state.ts';
import type { AlertsTable, Database } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';

export type AlertRow = Selectable<AlertsTable>;

export function listAlertRows(db: Database, organizationId: string) {
  return db
    .selectFrom('alerts')
    .innerJoin('agents', 'agents.id', 'alerts.agent_id')
    .selectAll('alerts')
    .select('agents.name as agent_name')
    .where('agents.organization_id', '=', organizationId)
    .where('agents.deleted_at', 'is', null)
    .orderBy('agents.name')
    .orderBy('alerts.created_at')
    .orderBy('alerts.id')
    .execute();
}

export async function countAlerts(db: Database, agentId: string): Promise<number> {
  const { count } = await db
    .selectFrom('alerts')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('agent_id', '=', agentId)
    .executeTakeFirstOrThrow();
  return count;
}

export function insertAlert(db: Database, row: Insertable<AlertsTable>): Promise<AlertRow> {
  return db.insertInto('alerts').values(row).returningAll().executeTakeFirstOrThrow();
}

export async function deleteAlertRow(db: Database, agentId: string, id: string): Promise<AlertRow | undefined> {
  if (!isUuid(id)) return undefined;
  return db.deleteFrom('alerts').where('agent_id', '=', agentId).where('id', '=', id).returningAll().executeTakeFirst();
}

export type MeasuredAlert = AlertRow & {
  readonly agent_name: string;
  readonly organization_name: string;
  /** Null if there is nothing to measure. */
  readonly value: number | null;
  readonly is_firing: boolean;
};

/** Sessions that ended in the alert's window. They last four hours at most, so an index by creation bounds the search. */
const endedInWindow = (now: Date) => sql`sessions.agent_id = a.agent_id and sessions.state = 'ended'
  and sessions.ended_at >= ${now}::timestamptz - a.window_minutes * interval '1 minute'
  and sessions.created_at >= ${now}::timestamptz - a.window_minutes * interval '1 minute' - interval '5 hours'`;

export async function listOrganizationsWithAlerts(db: Database, region: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('alerts')
    .innerJoin('agents', 'agents.id', 'alerts.agent_id')
    .select('agents.organization_id')
    .distinct()
    .where('agents.region', '=', region)
    .execute();
  return rows.map(({ organization_id }) => organization_id);
}

/** Measures the alerts of an organization's agents in a region. An alert of a deleted agent no longer fires. */
export async function measureAlerts(
  db: Database,
  { region, organizationId }: { readonly region: string; readonly organizationId: string },
  now: Date,
): Promise<readonly MeasuredAlert[]> {
  const { rows } = await sql<MeasuredAlert>`
    select a.*, agents.name as agent_name, organizations.name as organization_name, value,
      coalesce(agents.deleted_at is null and value >= coalesce(a.threshold, 1), false) as is_firing
    from alerts a join agents on agents.id = a.agent_id join organizations on organizations.id = agents.organization_id
      cross join lateral (select (case a.kind
        when 'failed_sessions' then (select count(*) from sessions
          where sessions.organization_id = agents.organization_id and ${endedInWindow(now)}
            and ${sql.raw(sessionFailedSql)})
        when 'response_time' then (select percentile_disc(0.95) within group (order by response_p95_ms)
          from sessions join session_conversations on session_id = sessions.id where ${endedInWindow(now)})
        when 'capacity' then (select 100 * count(*) / max(max_agents) from instances
          join deployments on deployments.id = agents.active_deployment_id
          where instances.agent_id = a.agent_id and session_id is not null and instances.state <> 'ended')
        when 'failed_deployment' then (select (state = 'failed')::int from deployments
          where deployments.id = agents.desired_deployment_id)
      end)::int as value) measured
    where agents.region = ${region} and agents.organization_id = ${organizationId}
      and (agents.deleted_at is null or a.incident_id is not null)`.execute(db);
  return rows;
}

/** Opens an incident. Returns false if one is open, or if the alert was deleted. */
export async function openIncident(
  db: Database,
  id: string,
  incident: { readonly id: string; readonly openedAt: Date; readonly value: number | null },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('alerts')
    .set({ incident_id: incident.id, opened_at: incident.openedAt, opened_value: incident.value })
    .where('id', '=', id)
    .where('incident_id', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Closes an incident. Returns false if it is not open. */
export async function closeIncident(db: Database, id: string, incidentId: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('alerts')
    .set({ incident_id: null, opened_at: null, opened_value: null })
    .where('id', '=', id)
    .where('incident_id', '=', incidentId)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}
