import { expect, test } from 'vitest';
import { webhook, webhookDelivery } from '../../fake-service/records.ts';
import { startServiceWith, useCommands } from '../use-commands.ts';

const secret = `whsec_${'c2VjcmV0'.repeat(5)}`;
const pending = {
  ...webhookDelivery,
  state: 'pending' as const,
  attempts: 0,
  attemptedAt: null,
  durationMs: null,
  responseStatus: null,
  responseBody: null,
};
const refused = { ...pending, attempts: 1, responseStatus: 500, error: 'The receiver answered 500.' };
const { id } = webhook;
/** What the service answers when the command asks for the delivery. */
let later = webhookDelivery;
const webhooks = useCommands('cloud webhooks', () =>
  startServiceWith({
    listWebhooks: () => ({ webhooks: [webhook, { ...webhook, enabled: false }] }),
    createWebhook: () => ({ ...webhook, secret }),
    updateWebhook: () => webhook,
    rotateWebhookSecret: () => ({ ...webhook, secret }),
    deleteWebhook: () => webhook,
    testWebhook: () => pending,
    resendWebhookDelivery: () => pending,
    getWebhookDelivery: () => later,
    listWebhookDeliveries: () => ({ deliveries: [webhookDelivery, refused, pending], nextCursor: 'next' }),
  }),
);

test('create sends URL and events, and prints the secret', async () => {
  await webhooks.run(`create ${webhook.url} -e session.failed --event session.ended --description pager`, {
    stdout: new RegExp(`^Secret\t${secret}\nId\t${id}\n`),
    wholeStderr: 'Save the secret now: it cannot be shown again.\n',
    requests: [{ body: { url: webhook.url, events: ['session.failed', 'session.ended'], description: 'pager' } }],
  });
  await webhooks.run(`create ${webhook.url} --all --json`, { wholeJson: { ...webhook, secret } });
});

webhooks.table([
  [`create ${webhook.url}`, { status: 2, stderr: 'Name the events with --event, or send all with --all.' }],
  [`create ${webhook.url} --all -e session.ended`, { status: 2, stderr: 'Name the events with --event' }],
  [`create ${webhook.url} -e session.finished`, { status: 2, stderr: '-e must be one of session.started,' }],
  [`update ${id}`, { status: 2, stderr: 'Say what to change' }],
]);

test('list shows URL, events and status', async () => {
  const rows = (await webhooks.run('list')).stdout.split('\n').map((row) => row.split('\t'));
  expect(rows[1]?.slice(0, 4)).toEqual([id, webhook.url, 'session.ended session.failed', 'Enabled']);
  expect(rows[2]?.[3]).toBe('Disabled');
});

test('update sends only what was given', async () => {
  await webhooks.run(`update ${id} --no-enabled`, { requests: [{ body: { enabled: false } }] });
  await webhooks.run(`update ${id} --url https://b.example/ -e session.failed --enabled --json`, {
    wholeJson: webhook,
    requests: [{ body: { url: 'https://b.example/', events: ['session.failed'], enabled: true } }],
  });
});

test('rotate prints the new secret', async () => {
  await webhooks.run(`rotate ${id}`, {
    stdout: new RegExp(`^Secret\t${secret}\nId\t${id}\n`),
    stderr: 'Save the secret now',
    lastRequest: 'rotateWebhookSecret',
  });
});

test('delete asks with the URL, or requires --yes', async () => {
  await webhooks.run(`delete ${id}`, { status: 2, stderr: '--yes' });
  await webhooks.run(
    `delete ${id}`,
    { stderr: `? Delete the webhook to ${webhook.url}?`, lastRequest: 'deleteWebhook' },
    { terminal: true, answers: [true] },
  );
  await webhooks.run(`delete ${id} --yes --json`, { wholeJson: webhook });
});

test.each(['test', `resend`])(
  '%s waits for the first attempt, and fails if the receiver refuses the event',
  async (word) => {
    const line = word === 'test' ? `test ${id}` : `resend ${id} ${webhookDelivery.eventId}`;
    later = webhookDelivery;
    await webhooks.run(line, { stdout: ['Status\tDelivered', 'Response\t200', 'Duration\t12 ms'] });
    later = refused;
    await webhooks.run(`${line} --json`, {
      status: 1,
      json: { error: { reason: 'webhook-not-delivered', details: { delivery: refused } } },
    });
  },
);

test('deliveries shows the state and the problem of each delivery, and the next page', async () => {
  const { stdout } = await webhooks.run(`deliveries ${id} --state failed -n 3`, {
    stderr: 'Next page: --cursor next',
    requests: [{ query: { limit: '3', state: 'failed' } }],
  });
  const rows = stdout.split('\n').map((row) => row.split('\t'));
  expect(rows.slice(1, 4).map((row) => row.slice(2, 6))).toEqual([
    ['Delivered', '1', '200', ''],
    ['Retrying', '1', '500', 'The receiver answered 500.'],
    ['Pending', '0', '', ''],
  ]);
});
