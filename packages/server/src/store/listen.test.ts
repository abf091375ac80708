import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { openDatabase } from './database.ts';
import { subscribeToChannel } from './listen.ts';

const logger = pino({ level: 'silent' });

async function subscribed() {
  const { address, drop } = await createTestDatabase([]);
  onTestFinished(drop);
  const db = await openDatabase<unknown>({ address, logger });
  onTestFinished(() => db.destroy());
  const received: string[] = [];
  const onMessage = (payload: string) => void received.push(payload);
  const onReconnected = () => void received.push('(reconnected)');
  const subscription = await subscribeToChannel({
    address,
    channel: 'Agent changed',
    onMessage,
    onReconnected,
    logger,
  });
  onTestFinished(() => subscription.close());
  const send = (payload: string) => sql`select pg_notify('Agent changed', ${payload})`.execute(db);
  const cut = () =>
    sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and query like 'listen%'`.execute(db);
  return { received, subscription, send, cut };
}

test('subscribeToChannel receives the messages of its channel in order', async () => {
  const { received, send } = await subscribed();
  await send('one');
  await send('two');
  await expect.poll(() => received).toEqual(['one', 'two']);
});

test('subscribeToChannel reconnects after a lost connection, reports it, and receives messages again', async () => {
  const { received, send, cut } = await subscribed();
  await cut();
  await expect.poll(() => received).toEqual(['(reconnected)']);
  await send('after');
  await expect.poll(() => received).toEqual(['(reconnected)', 'after']);
});

test('subscribeToChannel receives nothing after it is closed during a reconnect', async () => {
  const { received, subscription, send, cut } = await subscribed();
  await cut();
  await subscription.close();
  await send('late');
  expect(received.filter((message) => message !== '(reconnected)')).toEqual([]);
});
