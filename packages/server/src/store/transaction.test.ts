import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from './database.ts';
import { type EmbeddedPostgres, openEmbeddedPostgres } from './embedded.ts';
import type { Database, Tables } from './tables.ts';
import { commitWithoutWaiting, runInQuicklyUnlockedTransaction } from './transaction.ts';

const logger = pino({ level: 'silent' });

describe('runInQuicklyUnlockedTransaction', () => {
  let directory: string;
  let postgres: EmbeddedPostgres;
  let db: Database;
  let superuser: Database;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bothost-commits-'));
    await chmod(directory, 0o711);
    const open = async () => {
      postgres = await openEmbeddedPostgres({ dataDirectory: directory, logger });
      superuser = await openDatabase({ address: { ...postgres.address, user: 'postgres' }, logger });
    };
    await open();
    // Without these, no commit waits for a standby.
    for (const setting of [`wal_level = 'replica'`, 'max_wal_senders = 1']) {
      await sql.raw(`alter system set ${setting}`).execute(superuser);
    }
    await superuser.destroy();
    await postgres.stop();
    await open();
    db = await openDatabase({ address: postgres.address, logger });
    await sql`create table counted (number int)`.execute(db);
    await sql`insert into counted values (0)`.execute(db);
  }, 60_000);
  afterAll(async () => {
    await Promise.all([db.destroy(), superuser.destroy()]);
    await postgres.stop();
    await rm(directory, { recursive: true });
  });

  /** A commit that waits for the disk also waits for this standby, which does not exist. */
  async function setMissingStandby(name: string) {
    await sql.raw(`alter system set synchronous_standby_names = '${name}'`).execute(superuser);
    await sql`select pg_reload_conf()`.execute(superuser);
    const setting = sql<{ name: string }>`select current_setting('synchronous_standby_names') as name`;
    await expect.poll(async () => (await setting.execute(superuser)).rows).toEqual([{ name }]);
  }
  const count = async () => (await sql<{ number: number }>`select number from counted`.execute(db)).rows[0]?.number;
  const increment = () =>
    runInQuicklyUnlockedTransaction(db, (transaction) =>
      sql`update counted set number = number + 1 from ${commitWithoutWaiting}`.execute(transaction),
    );

  it('releases its locks before the commit is durable, and resolves only when it is', async () => {
    await setMissingStandby('missing');
    let resolved = 0;
    const increments = [1, 2, 3].map(() => increment().then(() => (resolved += 1)));
    await expect.poll(count).toBe(3);
    expect(resolved).toBe(0);
    await setMissingStandby('');
    await Promise.all(increments);
    expect(resolved).toBe(3);
  });

  // On another connection, a flush would succeed after a crash of PostgreSQL that lost the commit.
  it('keeps its connection until the commit is on disk', async () => {
    const single = await openDatabase<Tables>({ address: postgres.address, logger, maxConnections: 1 });
    const order: string[] = [];
    let waiting: Promise<unknown> | undefined;
    const running = runInQuicklyUnlockedTransaction(single, async (transaction) => {
      await sql`update counted set number = number from ${commitWithoutWaiting}`.execute(transaction);
      waiting = sql`select 1`.execute(single).then(() => order.push('the next user of the connection'));
    });
    await running.then(() => order.push('the commit is on disk'));
    await waiting;
    expect(order).toEqual(['the commit is on disk', 'the next user of the connection']);
    await single.destroy();
  });

  it('changes nothing if its work fails', async () => {
    const failing = runInQuicklyUnlockedTransaction(db, async (transaction) => {
      await sql`update counted set number = -1`.execute(transaction);
      throw new Error('failed');
    });
    await expect(failing).rejects.toThrow('failed');
    expect(await count()).toBe(3);
  });
});
