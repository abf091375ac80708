import { operations, webhookLimits } from '@bothost/contract';
import { beforeAll, expect, it } from 'vitest';
import { secondsAgo, testNow } from '../../test/support/test-rows.ts';
import { createTestVault, getApiErrorReason } from '../../test/support/test-vault.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { createAllowedHosts } from '../http-client/allowed-hosts.ts';
import { newId } from '../store/uuid.ts';
import { getWebhookDelivery, listWebhookDeliveries, resendWebhookDelivery, testWebhook } from './deliveries.ts';
import { purgeWebhookDeliveries } from './retention.ts';
import { readSigningKey } from './signing-key.ts';
import { createWebhook, listWebhooks, updateWebhook } from './webhooks.ts';

const rows = await useTestRows();
let context: Awaited<ReturnType<typeof openContext>>;

async function openContext() {
  const vault = await createTestVault(rows);
  return { ...vault.context, webhookHosts: createAllowedHosts([new URL('http://plain.example')]) };
}
beforeAll(async () => {
  context = await openContext();
});

const wanted = { url: 'https://hooks.example/path-secret', events: ['session.ended' as const], description: 'mine' };
const newScope = async () => ({ organizationId: await rows.organization(), keyId: null });

it('createWebhook returns the secret once, and stores it only encrypted', async () => {
  const scope = await newScope();
  const { secret, ...created } = await createWebhook(context, scope, wanted);
  expect(created).toEqual({
    id: created.id,
    ...wanted,
    enabled: true,
    createdAt: testNow.toISOString(),
    updatedAt: testNow.toISOString(),
  });
  expect(await listWebhooks(context, scope)).toEqual([created]);
  const row = await rows.find('webhooks', created.id);
  const owner = { organizationId: scope.organizationId, webhookId: created.id };
  const key = await readSigningKey(context, owner, row.wrapped_key);
  expect(secret).toBe(`whsec_${key.toString('base64')}`);
  expect(row.wrapped_key.includes(key)).toBe(false);
  const audited = await rows.db
    .selectFrom('audit_events')
    .select(['action', 'object', 'keys'])
    .where('organization_id', '=', scope.organizationId)
    .execute();
  expect(audited).toEqual([{ action: 'webhooks.create', object: created.id, keys: ['hooks.example'] }]);
});

it.each([
  ['https://hooks.example/\0a', 'https://hooks.example/%00a'],
  ['https://me:pass@hooks.example/', null],
  ['ftp://hooks.example/', null],
])('the contract reads the URL %j as %j', (url, expected) => {
  const { data } = operations.createWebhook.body.safeParse({ ...wanted, url });
  expect(data?.url ?? null).toBe(expected);
});

it('createWebhook accepts http only for hosts that the operator lists', async () => {
  const scope = await newScope();
  expect(await createWebhook(context, scope, { ...wanted, url: 'http://plain.example/x' })).toMatchObject({
    enabled: true,
  });
  const other = createWebhook(context, scope, { ...wanted, url: 'http://other.example/x' });
  expect(await getApiErrorReason(other)).toBe('invalid-request');
  const { id } = await createWebhook(context, scope, wanted);
  const changed = async () => updateWebhook(context, scope, id, { url: 'http://plain.example:81/' });
  expect(await getApiErrorReason(changed())).toBe('invalid-request');
});

it('createWebhook refuses more webhooks than the limit, also if they are created at once', async () => {
  const scope = await newScope();
  const attempts = Array.from({ length: webhookLimits.webhooks + 3 }, () => createWebhook(context, scope, wanted));
  const reasons = await Promise.all(attempts.map(getApiErrorReason));
  expect(reasons.filter((reason) => reason === 'webhooks-too-many')).toHaveLength(3);
  expect(await listWebhooks(context, scope)).toHaveLength(webhookLimits.webhooks);
});

it('a delivery that its webhook does not have can be neither read nor sent again', async () => {
  const scope = await newScope();
  const { id: webhookId } = await createWebhook(context, scope, wanted);
  const missing = { webhookId, eventId: newId() };
  expect(await getApiErrorReason(getWebhookDelivery(context, scope, missing))).toBe('webhook-delivery-not-found');
  expect(await getApiErrorReason(resendWebhookDelivery(context, scope, missing))).toBe('webhook-delivery-not-found');
});

it('a disabled webhook can be neither tested nor sent an event again', async () => {
  const scope = await newScope();
  const { id } = await createWebhook(context, scope, wanted);
  const { eventId } = await testWebhook(context, scope, id);
  await updateWebhook(context, scope, id, { enabled: false });
  expect(await getApiErrorReason(testWebhook(context, scope, id))).toBe('webhook-disabled');
  const again = resendWebhookDelivery(context, scope, { webhookId: id, eventId });
  expect(await getApiErrorReason(again)).toBe('webhook-disabled');
});

it('listWebhookDeliveries returns each delivery on one page, newest first', async () => {
  const scope = await newScope();
  const { id } = await createWebhook(context, scope, wanted);
  const sent: string[] = [];
  for (let age = 7; age > 0; age -= 1) {
    sent.unshift((await testWebhook({ ...context, now: () => secondsAgo(age) }, scope, id)).eventId);
  }
  const listed: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await listWebhookDeliveries(context, scope, id, { limit: 3, cursor });
    listed.push(...page.deliveries.map(({ eventId }) => eventId));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  expect(listed).toEqual(sent);
  const invalid = listWebhookDeliveries(context, scope, id, { limit: 3, cursor: 'x' });
  expect(await getApiErrorReason(invalid)).toBe('invalid-request');
});

it('purgeWebhookDeliveries deletes old deliveries that are over, and keeps pending ones', async () => {
  const scope = await newScope();
  const { id } = await createWebhook(context, scope, wanted);
  const days = (count: number) => ({ ...context, now: () => secondsAgo(count * 86_400) });
  const over = await testWebhook(days(31), scope, id);
  const pending = await testWebhook(days(31), scope, id);
  const recent = await testWebhook(days(29), scope, id);
  await rows.db
    .updateTable('webhook_deliveries')
    .set({ state: 'delivered', next_at: null })
    .where('event_id', 'in', [over.eventId, recent.eventId])
    .execute();
  const left = async () =>
    (await listWebhookDeliveries(context, scope, id, { limit: 10 })).deliveries.map(({ eventId }) => eventId).sort();
  await purgeWebhookDeliveries(context, 0);
  expect(await left()).toHaveLength(3);
  await purgeWebhookDeliveries(context, 30);
  expect(await left()).toEqual([pending.eventId, recent.eventId].sort());
});
