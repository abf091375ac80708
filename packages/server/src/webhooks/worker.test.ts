import type { ServerResponse } from 'node:http';
import type { WebhookEvent } from '@bothost/contract';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestVault } from '../../test/support/test-vault.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { type ReceivedEvent, startWebhookReceiver } from '../../test/support/webhook-receiver.ts';
import type { PollingLoop } from '../concurrency/polling-loop.ts';
import { createAllowedHosts } from '../http-client/allowed-hosts.ts';
import type { Database } from '../store/tables.ts';
import { newId } from '../store/uuid.ts';
import { getWebhookDelivery, listWebhookDeliveries, resendWebhookDelivery, testWebhook } from './deliveries.ts';
import { recordAgentEvent } from './record-event.ts';
import { claimDueDeliveries } from './rows.ts';
import { createWebhook, rotateWebhookSecret, updateWebhook } from './webhooks.ts';
import { startWebhookWorker } from './worker.ts';

/** The clock of the workers. It stands still unless a test advances it, so that a slow machine causes no retry. */
let clock = Date.now();
const now = () => new Date(clock);
const advance = (seconds: number) => {
  clock += seconds * 1000;
};
/** What the receiver does with a request to a path; by default it accepts. */
const responses = new Map<string, (event: ReceivedEvent, response: ServerResponse) => void>();

const rows = await useTestRows();
const receiver = await startWebhookReceiver((event, response) =>
  (responses.get(event.path) ?? ((_, accepted) => void accepted.end()))(event, response),
);
let context: Awaited<ReturnType<typeof openContext>>;
const workers: PollingLoop[] = [];

async function openContext() {
  const vault = await createTestVault(rows);
  return {
    ...vault.context,
    now,
    webhookHosts: createAllowedHosts([new URL(receiver.origin)]),
    resolveHost: async () => [],
    timeoutMs: 60_000,
    retryWrite: <T>(write: () => Promise<T>) => write(),
  };
}

beforeAll(async () => {
  context = await openContext();
  workers.push(startWebhookWorker(context), startWebhookWorker(context));
});
afterAll(async () => {
  await receiver.close();
  await Promise.all(workers.map((worker) => worker.close()));
});

/** Creates an organization with an agent and a webhook. */
async function webhook(events: WebhookEvent[] = ['session.started', 'session.ended', 'session.failed']) {
  const organizationId = await rows.organization();
  const agentId = await rows.agent(organizationId);
  const scope = { organizationId, keyId: null };
  const path = `/${newId()}`;
  const { id, secret } = await createWebhook(context, scope, { url: receiver.origin + path, events, description: '' });
  receiver.secrets.set(path, secret);
  return {
    id,
    path,
    scope,
    record: (event: WebhookEvent, session: string, subject: string, db: Database = rows.db) =>
      recordAgentEvent(db, { event, agentId, subject, at: now(), data: { session } }),
    received: () =>
      receiver.received
        .filter((event) => event.path === path)
        .map(({ payload }) => `${payload.event_type} ${payload.data['session']}`),
    deliveries: async () =>
      (await listWebhookDeliveries(context, scope, id, { limit: 50 })).deliveries.map(
        ({ event, state, attempts, error }) => ({ event, state, attempts, error }),
      ),
  };
}

it('a worker sends the next event of a session only after the receiver has accepted the previous one', async () => {
  const hook = await webhook();
  const [first, second] = [newId(), newId()];
  let isRejecting = true;
  responses.set(hook.path, ({ payload }, response) => {
    response.statusCode = isRejecting && payload.data['session'] === 'first' ? 500 : 200;
    response.end();
  });
  await hook.record('session.started', 'first', first);
  await hook.record('session.ended', 'first', first);
  await hook.record('session.failed', 'first', first);
  await hook.record('session.started', 'second', second);
  await hook.record('session.ended', 'second', second);
  await expect.poll(hook.received, { timeout: 30_000 }).toContain('session.ended second');
  expect(hook.received().filter((line) => line.endsWith('first'))).toEqual(['session.started first']);
  await expect.poll(hook.deliveries, { timeout: 30_000 }).toContainEqual({
    event: 'session.started',
    state: 'pending',
    attempts: 1,
    error: 'The receiver answered 500.',
  });
  isRejecting = false;
  advance(5);
  await expect
    .poll(() => hook.received().filter((line) => line.endsWith('first')), { timeout: 30_000 })
    .toEqual(['session.started first', 'session.started first', 'session.ended first', 'session.failed first']);
  expect(receiver.rejected).toEqual([]);
});

it('two workers on one database send each event once', async () => {
  const hook = await webhook();
  const sessions = Array.from({ length: 60 }, (_, number) => [String(number), newId()] as const);
  await Promise.all(sessions.map(([name, id]) => hook.record('session.started', name, id)));
  await Promise.all(sessions.map(([name, id]) => hook.record('session.ended', name, id)));
  const settled = async () =>
    (await rows.db.selectFrom('webhook_deliveries').select('state').where('webhook_id', '=', hook.id).execute()).every(
      ({ state }) => state === 'delivered',
    );
  await expect.poll(settled, { timeout: 30_000 }).toBe(true);
  const received = hook.received();
  expect(received).toHaveLength(120);
  for (const [name] of sessions) {
    expect(received.filter((line) => line.endsWith(` ${name}`))).toEqual([
      `session.started ${name}`,
      `session.ended ${name}`,
    ]);
  }
});

it('a worker sends a delivery that a killed server has claimed once the lease has ended', async () => {
  const hook = await webhook();
  const at = now();
  await rows.db.transaction().execute(async (db) => {
    await hook.record('session.started', 'claimed', newId(), db);
    const leaseEndsAt = new Date(at.getTime() + 65_000);
    const claim = { now: now(), leaseEndsAt, busy: [], perWebhook: 5, limit: 5 };
    expect(await claimDueDeliveries(db, claim)).toHaveLength(1);
  });
  await hook.record('session.started', 'unclaimed', newId());
  await expect.poll(hook.received, { timeout: 30_000 }).toEqual(['session.started unclaimed']);
  advance(65);
  await expect.poll(hook.received, { timeout: 30_000 }).toContain('session.started claimed');
  await expect.poll(hook.deliveries, { timeout: 30_000 }).toContainEqual({
    event: 'session.started',
    state: 'delivered',
    attempts: 2,
    error: null,
  });
});

it('claimDueDeliveries claims the oldest delivery of each webhook before further ones', async () => {
  const [backlogged, other] = [await webhook(), await webhook()];
  await rows.db.transaction().execute(async (db) => {
    for (const name of ['first', 'second', 'third']) await backlogged.record('session.started', name, newId(), db);
    advance(1);
    await other.record('session.started', 'newer', newId(), db);
    const claim = { now: now(), leaseEndsAt: new Date(clock + 65_000), busy: [], perWebhook: 5, limit: 2 };
    const claimed = (await claimDueDeliveries(db, claim)).map(({ webhook_id: id }) => id);
    expect(claimed.toSorted()).toEqual([backlogged.id, other.id].toSorted());
  });
});

it('recordAgentEvent replaces characters that PostgreSQL cannot store', async () => {
  const hook = await webhook();
  await hook.record('session.started', 'cut \ud83d and \0', newId());
  await expect.poll(hook.received, { timeout: 30_000 }).toEqual(['session.started cut \ufffd and \ufffd']);
});

it('recordAgentEvent skips a webhook that is deleted at the same time', async () => {
  const hook = await webhook();
  let recording: Promise<void> = Promise.resolve();
  await rows.db.transaction().execute(async (db) => {
    await db.deleteFrom('webhooks').where('id', '=', hook.id).execute();
    recording = hook.record('session.started', 'late', newId());
    const isWaiting = async () => (await sql`select from pg_locks where not granted`.execute(rows.db)).rows.length > 0;
    await expect.poll(isWaiting, { timeout: 30_000 }).toBe(true);
  });
  await recording;
});

it('a worker gives up after the last attempt, and then sends the next event of the session', async () => {
  const hook = await webhook();
  responses.set(hook.path, ({ payload }, response) => {
    response.statusCode = payload.event_type === 'session.started' ? 500 : 200;
    response.end();
  });
  await rows.db.transaction().execute(async (db) => {
    const subject = newId();
    await hook.record('session.started', 'lost', subject, db);
    await hook.record('session.ended', 'lost', subject, db);
    await db
      .updateTable('webhook_deliveries')
      .set({ attempts: 10 })
      .where('webhook_id', '=', hook.id)
      .where('event', '=', 'session.started')
      .execute();
  });
  await expect.poll(hook.deliveries, { timeout: 30_000 }).toEqual([
    { event: 'session.ended', state: 'delivered', attempts: 1, error: null },
    { event: 'session.started', state: 'failed', attempts: 11, error: 'The receiver answered 500.' },
  ]);
});

it('a worker sends to other webhooks while a receiver does not answer', async () => {
  const [silent, prompt] = [await webhook(), await webhook()];
  responses.set(silent.path, () => undefined);
  for (const hook of [silent, prompt])
    for (let number = 0; number < 20; number += 1) await hook.record('session.started', String(number), newId());
  await expect.poll(() => prompt.received().length, { timeout: 30_000 }).toBe(20);
  expect(silent.received().length).toBeLessThanOrEqual(10);
});

it('a disabled webhook gets no events, and those recorded before once it is enabled', async () => {
  const hook = await webhook();
  await rows.db.transaction().execute(async (db) => {
    await hook.record('session.started', 'before', newId(), db);
    await db.updateTable('webhooks').set({ enabled: false }).where('id', '=', hook.id).execute();
    await hook.record('session.started', 'meanwhile', newId(), db);
  });
  const other = await webhook();
  await other.record('session.started', 'after', newId());
  await expect.poll(other.received, { timeout: 30_000 }).toEqual(['session.started after']);
  expect(hook.received()).toEqual([]);
  await updateWebhook(context, hook.scope, hook.id, { enabled: true });
  await expect.poll(hook.received, { timeout: 30_000 }).toEqual(['session.started before']);
});

it('an event is recorded once, only if its transaction is committed, and only for webhooks that subscribe to it', async () => {
  const hook = await webhook(['session.ended']);
  const subject = newId();
  const rolledBack = rows.db.transaction().execute(async (db) => {
    await hook.record('session.ended', 'rolled back', newId(), db);
    throw new Error('rolled back');
  });
  await expect(rolledBack).rejects.toThrow('rolled back');
  await hook.record('session.started', 'committed', subject);
  await hook.record('session.ended', 'committed', subject);
  await hook.record('session.ended', 'committed', subject);
  await expect.poll(hook.received, { timeout: 30_000 }).toEqual(['session.ended committed']);
  expect(await hook.deliveries()).toHaveLength(1);
});

it('a test event is sent at once, and again with the same id and payload', async () => {
  const hook = await webhook();
  const sent = await testWebhook(context, hook.scope, hook.id);
  const states = async () => (await hook.deliveries()).map(({ state }) => state);
  await expect.poll(states, { timeout: 30_000 }).toEqual(['delivered']);
  await resendWebhookDelivery(context, hook.scope, { webhookId: hook.id, eventId: sent.eventId });
  const events = () => receiver.received.filter(({ path }) => path === hook.path);
  await expect.poll(() => events().length, { timeout: 30_000 }).toBe(2);
  expect(events().map(({ id }) => id)).toEqual([sent.eventId, sent.eventId]);
  expect(events().map(({ payload }) => payload)).toEqual([JSON.parse(sent.payload), JSON.parse(sent.payload)]);
  expect(JSON.parse(sent.payload)).toEqual({
    event_type: 'webhook.test',
    org: expect.stringMatching(/^org-/),
    created_at: sent.createdAt,
    data: { webhook_id: hook.id },
  });
});

it('a worker signs with the former secret, too, for a day after a rotation, and until the next one', async () => {
  const hook = await webhook();
  const former = receiver.secrets.get(hook.path) ?? '';
  const rotate = async (at = now()) =>
    (await rotateWebhookSecret({ ...context, now: () => at }, hook.scope, hook.id)).secret;
  const accepts = async (secret: string) => {
    receiver.secrets.set(hook.path, secret);
    const { eventId } = await testWebhook(context, hook.scope, hook.id);
    for (const worker of workers) worker.wake();
    const read = async () =>
      (await getWebhookDelivery(context, hook.scope, { webhookId: hook.id, eventId })).responseStatus;
    await expect.poll(read).not.toBeNull();
    return (await read()) === 200;
  };
  const second = await rotate();
  expect([await accepts(former), await accepts(second)]).toEqual([true, true]);
  const third = await rotate();
  expect([await accepts(former), await accepts(second), await accepts(third)]).toEqual([false, true, true]);
  const fourth = await rotate(new Date(clock - 86_400_000));
  expect([await accepts(third), await accepts(fourth)]).toEqual([false, true]);
});
