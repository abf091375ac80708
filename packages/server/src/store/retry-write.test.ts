import pg from 'pg';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { createClientConfig } from './address.ts';
import { openDatabase } from './database.ts';
import { createRetryWrite } from './retry-write.ts';

const rows = await useTestRows();

const full = Object.assign(new Error('could not extend file'), { code: '53100' });
const lost = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
const wrong = Object.assign(new Error('duplicate key value'), { code: '23505' });

describe('createRetryWrite', () => {
  it('runs a write once when it succeeds', async () => {
    let tries = 0;
    const retryWrite = createRetryWrite(new AbortController().signal);
    expect(await retryWrite(async () => (tries += 1))).toBe(1);
  });

  it.each([
    ['away', lost],
    ['full', full],
  ])('retries a write while the database is %s', async (_, error) => {
    let tries = 0;
    const retryWrite = createRetryWrite(new AbortController().signal);
    const written = await retryWrite(async () => {
      tries += 1;
      if (tries < 3) throw error;
      return 'written';
    });
    expect([written, tries]).toEqual(['written', 3]);
  });

  it('does not retry a write that the database rejects', async () => {
    let tries = 0;
    const retryWrite = createRetryWrite(new AbortController().signal);
    const writing = retryWrite(async () => {
      tries += 1;
      throw wrong;
    });
    await expect(writing).rejects.toBe(wrong);
    expect(tries).toBe(1);
  });

  it('stops retrying when the service closes, even while it waits for the next attempt', async () => {
    const closing = new AbortController();
    const retryWrite = createRetryWrite(closing.signal);
    let tries = 0;
    const writing = retryWrite(async () => {
      tries += 1;
      if (tries === 2) closing.abort();
      throw lost;
    });
    await expect(writing).rejects.toThrow();
    expect(tries).toBe(2);
  });

  it('repeats the whole transaction if the connection is cut during the write', async () => {
    const logger = pino({ level: 'silent' });
    const db = await openDatabase<{ kept: { n: number } }>({
      address: rows.database.address,
      logger,
      maxConnections: 1,
    });
    await db.schema.createTable('kept').addColumn('n', 'integer').execute();
    const admin = new pg.Client(createClientConfig(rows.database.admin));
    await admin.connect();
    let cut = false;
    await createRetryWrite(new AbortController().signal)(() =>
      db.transaction().execute(async (transaction) => {
        await transaction.insertInto('kept').values({ n: 1 }).execute();
        if (!cut) {
          cut = true;
          await admin.query(
            'select pg_terminate_backend(pid) from pg_stat_activity where state = $1 and datname = $2',
            ['idle in transaction', new URL(rows.database.url.replace(/^[a-z]+:/, 'http:')).pathname.slice(1)],
          );
        }
        await transaction.insertInto('kept').values({ n: 2 }).execute();
      }),
    );
    expect(await db.selectFrom('kept').select('n').orderBy('n').execute()).toEqual([{ n: 1 }, { n: 2 }]);
    await admin.end();
    await db.destroy();
  });
});
