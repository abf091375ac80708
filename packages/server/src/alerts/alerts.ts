import {
  type Alert,
  type AuditAction,
  createApiError,
  maxAlertsPerAgent,
  type Operations,
  type RequestOf,
} from '@bothost/contract';
import { requireAgentId } from '../agents/find.ts';
import { lockAgentForScaling } from '../agents/serving-deployment.ts';
import { appendAudit } from '../audit/append.ts';
import { type Actor, organizationEventFields } from '../audit/chain.ts';
import type { Database } from '../store/tables.ts';
import { recordIncidentEvent } from './incidents.ts';
import { type AlertRow, countAlerts, deleteAlertRow, insertAlert, listAlertRows } from './rows.ts';

type Scope = { readonly organizationId: string };
type Context = { readonly db: Database; readonly now: () => Date };

export async function listAlerts({ db }: { readonly db: Database }, scope: Scope): Promise<Alert[]> {
  return (await listAlertRows(db, scope.organizationId)).map((row) => toAlert(row, row.agent_name));
}

/** @throws failure `not-found`, `alerts-too-many` */
export function createAlert(
  context: Context & { readonly newId: () => string },
  scope: Scope & Actor,
  agentName: string,
  rule: RequestOf<Operations['createAlert']>['body'],
): Promise<Alert> {
  return context.db.transaction().execute(async (db) => {
    const agentId = await requireAgentId(db, scope.organizationId, agentName);
    await lockAgentForScaling(db, agentId);
    if ((await countAlerts(db, agentId)) >= maxAlertsPerAgent) throw createApiError('alerts-too-many');
    const row = await insertAlert(db, {
      id: context.newId(),
      agent_id: agentId,
      kind: rule.kind,
      threshold: 'threshold' in rule ? rule.threshold : null,
      window_minutes: 'windowMinutes' in rule ? rule.windowMinutes : null,
      created_at: context.now(),
    });
    await record(context, db, scope, agentName, row, 'alerts.create');
    return toAlert(row, agentName);
  });
}

/** Deletes an alert, and reports the end of its open incident. @throws failure `not-found`, `alert-not-found` */
export function deleteAlert(context: Context, scope: Scope & Actor, agentName: string, id: string): Promise<Alert> {
  return context.db.transaction().execute(async (db) => {
    const agentId = await requireAgentId(db, scope.organizationId, agentName);
    const row = await deleteAlertRow(db, agentId, id);
    if (row === undefined) throw createApiError('alert-not-found');
    if (row.incident_id !== null && row.opened_at !== null) {
      const incident = { id: row.incident_id, openedAt: row.opened_at, closedAt: context.now() };
      await recordIncidentEvent(db, row, incident, { value: null, url: null });
    }
    await record(context, db, scope, agentName, row, 'alerts.delete');
    return toAlert(row, agentName);
  });
}

function record(
  context: Context,
  db: Database,
  scope: Scope & Actor,
  agentName: string,
  row: AlertRow,
  action: AuditAction,
): Promise<void> {
  return appendAudit(db, scope.organizationId, {
    ...organizationEventFields,
    at: context.now(),
    action,
    actor: scope,
    object: agentName,
    keys: [row.kind, ...(row.threshold === null ? [] : [String(row.threshold)])],
    result: 'done',
  });
}

function toAlert(row: AlertRow, agentName: string): Alert {
  return {
    id: row.id,
    agentName,
    kind: row.kind,
    threshold: row.threshold,
    windowMinutes: row.window_minutes,
    createdAt: row.created_at.toISOString(),
    incident:
      row.incident_id === null || row.opened_at === null
        ? null
        : { id: row.incident_id, openedAt: row.opened_at.toISOString(), value: row.opened_value ?? 0 },
  };
}
