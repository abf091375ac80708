import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { createClientConfig, type DatabaseAddress } from './address.ts';
import { holdLock } from './lock.ts';

async function freshAddress(): Promise<DatabaseAddress> {
  const { address, drop } = await createTestDatabase([]);
  onTestFinished(drop);
  return address;
}

/** Terminates all other connections to the database. */
async function cutConnections(address: DatabaseAddress): Promise<void> {
  const client = new pg.Client(createClientConfig(address));
  await client.connect();
  await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`);
  await client.end();
}

const unexpected = (error: Error) => {
  throw error;
};

test('holdLock grants a key to one holder at a time, independently of other keys', async () => {
  const address = await freshAddress();
  const hold = (key: string) => holdLock({ address, key, waitMs: 1, onLost: unexpected });
  const first = await hold('us-west');
  const other = await hold('eu-central');
  expect([first, other]).not.toContain(null);
  expect(await hold('us-west')).toBeNull();
  await first?.release();
  const second = await hold('us-west');
  expect(second).not.toBeNull();
  await Promise.all([second?.release(), other?.release()]);
});

test('holdLock grants a waiter the lock when the holder releases it', async () => {
  const address = await freshAddress();
  const first = await holdLock({ address, key: 'us-west', waitMs: 1, onLost: unexpected });
  const waiting = holdLock({ address, key: 'us-west', waitMs: 20_000, onLost: unexpected });
  await first?.release();
  const second = await waiting;
  expect(second).not.toBeNull();
  await second?.release();
});

test('holdLock calls onLost when the connection is lost, which frees the lock', async () => {
  const address = await freshAddress();
  const losses: Error[] = [];
  await holdLock({ address, key: 'us-west', waitMs: 1, onLost: (error) => losses.push(error) });
  await cutConnections(address);
  await expect.poll(() => losses).toMatchObject([{ message: expect.stringMatching(/terminat/) }]);
  const next = await holdLock({ address, key: 'us-west', waitMs: 5_000, onLost: unexpected });
  expect(next).not.toBeNull();
  await next?.release();
});
