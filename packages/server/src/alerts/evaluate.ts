import type { StoreContext } from '../store/store-context.ts';
import { recordIncidentEvent } from './incidents.ts';
import { closeIncident, listOrganizationsWithAlerts, type MeasuredAlert, measureAlerts, openIncident } from './rows.ts';

type Context = Pick<StoreContext, 'db' | 'now' | 'newId'> & {
  readonly host: { readonly region: string };
  readonly serviceUrl: () => string;
};

/**
 * Measures all alerts of the region, opens an incident for each that reaches its threshold, and closes the incidents of the
 * others. One server runs a region, and an incident is opened by one update, so each is reported once. Rejects after all other
 * organizations if the alerts of one could not be measured.
 */
export async function evaluateAlerts(context: Context): Promise<void> {
  const errors: unknown[] = [];
  // Each organization has its own queries, because those of one with very many sessions may exceed their time limit.
  for (const organizationId of await listOrganizationsWithAlerts(context.db, context.host.region)) {
    await evaluateAlertsOf(context, organizationId).catch((error: unknown) => errors.push(error));
  }
  if (errors.length > 0) throw new AggregateError(errors, 'Alerts could not be evaluated.');
}

async function evaluateAlertsOf(context: Context, organizationId: string): Promise<void> {
  const now = context.now();
  for (const alert of await measureAlerts(context.db, { region: context.host.region, organizationId }, now)) {
    if (alert.is_firing === (alert.incident_id !== null)) continue;
    await context.db.transaction().execute((db) => changeIncident({ ...context, db }, alert, now));
  }
}

async function changeIncident(context: Context, alert: MeasuredAlert, now: Date): Promise<void> {
  const { db } = context;
  const details = { value: alert.value, url: createAlertUrl(context.serviceUrl(), alert) };
  if (alert.incident_id === null || alert.opened_at === null) {
    const incident = { id: context.newId(), openedAt: now, closedAt: null };
    const isOpened = await openIncident(db, alert.id, { ...incident, value: alert.value });
    if (isOpened) await recordIncidentEvent(db, alert, incident, details);
  } else if (await closeIncident(db, alert.id, alert.incident_id)) {
    const incident = { id: alert.incident_id, openedAt: alert.opened_at, closedAt: now };
    await recordIncidentEvent(db, alert, incident, details);
  }
}

/** Returns the address of the page that shows what the alert measures. */
function createAlertUrl(
  serviceUrl: string,
  { kind, organization_name: organization, agent_name: agent }: MeasuredAlert,
) {
  const page = `${serviceUrl}/orgs/${organization}`;
  return kind === 'failed_sessions' || kind === 'response_time'
    ? `${page}/sessions?agent=${agent}`
    : `${page}/agents/${agent}`;
}
