import { randomBytes } from 'node:crypto';
import { type AlertKind, maxAlertsPerAgent, webhookEvents } from '@bothost/contract';
import { expect, it } from 'vitest';
import { secondsAgo, testNow } from '../../test/support/test-rows.ts';
import { getApiErrorReason } from '../../test/support/test-vault.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { newId } from '../store/uuid.ts';
import { createAlert, deleteAlert, listAlerts } from './alerts.ts';
import { evaluateAlerts } from './evaluate.ts';

const rows = await useTestRows();
const hostId = await rows.host();
let clock = testNow;
const context = () => ({
  db: rows.db,
  now: () => clock,
  newId,
  host: { region: 'us-west' },
  serviceUrl: () => 'https://bots.example',
});

/** Creates an organization with an agent that serves, and a webhook for all events. */
async function home() {
  clock = testNow;
  const of = await rows.deployedAgent({ hostId });
  const { organizationId } = of;
  const webhookId = newId();
  await rows.db
    .insertInto('webhooks')
    .values({
      id: webhookId,
      organization_id: organizationId,
      url: 'https://hooks.example/',
      description: '',
      events: JSON.stringify(Object.keys(webhookEvents)),
      enabled: true,
      wrapped_key: randomBytes(65),
      created_at: testNow,
      updated_at: testNow,
    })
    .execute();
  return {
    of,
    scope: { organizationId, keyId: null },
    /** The recorded events, oldest first. */
    events: async () =>
      (
        await rows.db
          .selectFrom('webhook_deliveries')
          .select('payload')
          .where('webhook_id', '=', webhookId)
          .orderBy('created_at')
          .orderBy('sequence')
          .execute()
      ).map(({ payload }) => JSON.parse(payload) as { event_type: string; data: Record<string, unknown> }),
  };
}
type Home = Awaited<ReturnType<typeof home>>;

/** Inserts a session that ended a number of seconds before `testNow`. */
function endedSession({ of }: Home, completionStatus: string, seconds: number): Promise<string> {
  return rows.session(of, {
    state: 'ended',
    created_at: secondsAgo(seconds + 60),
    bot_started_at: secondsAgo(seconds + 50),
    ended_at: secondsAgo(seconds),
    completion_status: completionStatus as 'HTTP_ERROR',
  });
}

async function slowSession(of: Home, responseMs: number): Promise<void> {
  const sessionId = await endedSession(of, 'HTTP_COMPLETED', 30);
  await rows.db
    .insertInto('session_conversations')
    .values({
      session_id: sessionId,
      host_id: hostId,
      state: 'complete',
      response_p95_ms: responseMs,
      created_at: secondsAgo(60),
    })
    .execute();
}

it('an alert opens one incident when enough sessions fail, with a link, and closes it when the window is over', async () => {
  const given = await home();
  const created = await createAlert(context(), given.scope, 'parrot', {
    kind: 'failed_sessions',
    threshold: 2,
    windowMinutes: 15,
  });
  await endedSession(given, 'HTTP_ERROR', 60);
  await endedSession(given, 'SESSION_STOPPED', 60);
  await endedSession(given, 'HTTP_ERROR', 16 * 60);
  await evaluateAlerts(context());
  expect(await given.events()).toEqual([]);
  await endedSession(given, '500', 30);
  await Promise.all([evaluateAlerts(context()), evaluateAlerts(context())]);
  await evaluateAlerts(context());
  const [alert] = await listAlerts(context(), given.scope);
  expect(alert).toEqual({
    ...created,
    incident: { id: expect.any(String), openedAt: testNow.toISOString(), value: 2 },
  });
  const data = {
    service: 'parrot',
    region: 'us-west',
    alert_id: created.id,
    incident_id: alert?.incident?.id,
    kind: 'failed_sessions',
    threshold: 2,
    window_minutes: 15,
    opened_at: testNow.toISOString(),
    url: expect.stringMatching(/^https:\/\/bots\.example\/orgs\/org-.*\/sessions\?agent=parrot$/),
  };
  expect(await given.events()).toMatchObject([
    { event_type: 'alert.opened', data: { ...data, value: 2, closed_at: null } },
  ]);
  clock = new Date(testNow.getTime() + 15 * 60_000);
  await evaluateAlerts(context());
  await evaluateAlerts(context());
  expect((await given.events()).slice(1)).toMatchObject([
    { event_type: 'alert.closed', data: { ...data, value: 0, closed_at: clock.toISOString() } },
  ]);
  expect((await listAlerts(context(), given.scope))[0]?.incident).toBeNull();
});

it.each<[AlertKind, number, object, (given: Home) => Promise<unknown>]>([
  ['response_time', 900, { threshold: 900, windowMinutes: 5 }, (given) => slowSession(given, 900)],
  [
    'capacity',
    50,
    { threshold: 50 },
    async (given) => rows.instance({ ...given.of, hostId: hostId }, { session_id: await rows.session(given.of) }),
  ],
  ['failed_deployment', 1, {}, (given) => rows.deployment(given.of.agentId, { state: 'failed' })],
])('an alert of the kind %s opens an incident with the value %i', async (kind, value, fields, cause) => {
  const given = await home();
  const rule = { kind, ...fields } as Parameters<typeof createAlert>[3];
  await createAlert(context(), given.scope, 'parrot', rule);
  if (kind === 'response_time') await slowSession(given, 100);
  await evaluateAlerts(context());
  expect(await given.events()).toEqual([]);
  await cause(given);
  await evaluateAlerts(context());
  expect(await given.events()).toMatchObject([{ event_type: 'alert.opened', data: { kind, value } }]);
});

it('deleteAlert closes the open incident', async () => {
  const given = await home();
  const { id } = await createAlert(context(), given.scope, 'parrot', { kind: 'failed_deployment' });
  await rows.deployment(given.of.agentId, { state: 'failed' });
  await evaluateAlerts(context());
  await deleteAlert(context(), given.scope, 'parrot', id);
  await evaluateAlerts(context());
  const events = (await given.events()).map((event) => event.event_type);
  expect(events).toEqual(['alert.opened', 'alert.closed']);
  expect(await getApiErrorReason(deleteAlert(context(), given.scope, 'parrot', id))).toBe('alert-not-found');
});

it('createAlert refuses more alerts of an agent than the limit, also if they are created at once', async () => {
  const given = await home();
  const rule = { kind: 'failed_deployment' } as const;
  const attempts = Array.from({ length: maxAlertsPerAgent + 2 }, () =>
    createAlert(context(), given.scope, 'parrot', rule),
  );
  const reasons = await Promise.all(attempts.map(getApiErrorReason));
  expect(reasons.filter((reason) => reason === 'alerts-too-many')).toHaveLength(2);
});
