import pg from 'pg';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { createClientConfig } from '../store/address.ts';
import { openDatabase } from '../store/database.ts';
import type { Tables } from '../store/tables.ts';
import { checkDatabase } from './check-database.ts';

const logger = pino({ level: 'silent' });
const now = () => new Date();

async function openTestDatabase() {
  const { address, url, admin, drop } = await createTestDatabase();
  const db = await openDatabase<Tables>({ address, logger, maxConnections: 1 });
  onTestFinished(async () => {
    await db.destroy();
    await drop();
  });
  const query = async (text: string) => {
    const client = new pg.Client(createClientConfig(admin));
    await client.connect();
    await client.query(text);
    await client.end();
  };
  return { db, name: new URL(url).pathname.slice(1), query };
}

it.each([
  ['connection limit 21', 'failed', /allows this service 21 connections, and it uses up to 22/],
  ['connection limit 0', 'failed', /allows this service 0 connections/],
])(
  'checkDatabase compares "%s" of the database with the connections that the service needs',
  async (change, state, reason) => {
    const { db, name, query } = await openTestDatabase();
    await query(`alter database ${name} ${change}`);
    expect(await checkDatabase({ db, now }, false)).toMatchObject({ state, reason: expect.stringMatching(reason) });
  },
);

it('checkDatabase reports clocks that differ by more than ten seconds', async () => {
  const { db } = await openTestDatabase();
  const late = () => new Date(Date.now() - 60_000);
  expect(await checkDatabase({ db, now: late }, false)).toMatchObject({
    state: 'failed',
    reason: 'The clocks of the database and of the service differ by 60 seconds.',
  });
});

it('checkDatabase reports a database that accepts no further connection', async () => {
  const { db, name, query } = await openTestDatabase();
  await query(`alter database ${name} connection limit 0`);
  await query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  expect(await checkDatabase({ db, now }, true)).toMatchObject({
    state: 'failed',
    nextStep: 'Read the log of the service, and restart the service.',
  });
});
