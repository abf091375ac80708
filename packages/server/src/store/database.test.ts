import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { createClientConfig, type DatabaseAddress } from './address.ts';
import { isConnectionError, isDiskFullError } from './connection-error.ts';
import { openDatabase } from './database.ts';

const logger = pino({ level: 'silent' });

async function freshDatabase() {
  const { address, drop } = await createTestDatabase([]);
  onTestFinished(drop);
  const db = await openDatabase<unknown>({ address, logger, maxConnections: 2 });
  onTestFinished(() => db.destroy());
  return { address, db };
}

async function administer(admin: DatabaseAddress, statements: readonly string[]): Promise<void> {
  const client = new pg.Client(createClientConfig(admin));
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

test('openDatabase reads bigint as number, timestamptz as Date and jsonb as parsed JSON', async () => {
  const { db } = await freshDatabase();
  const { rows } = await sql`select count(*), 9007199254740991::bigint as most,
    '2026-01-02 03:04:05.678+00'::timestamptz as at, '{"a": [1]}'::jsonb as json`.execute(db);
  const at = new Date('2026-01-02T03:04:05.678Z');
  expect(rows).toEqual([{ count: 1, most: Number.MAX_SAFE_INTEGER, at, json: { a: [1] } }]);
});

test('openDatabase refuses to read a bigint above 2^53', async () => {
  const { db } = await freshDatabase();
  await expect(sql`select 9007199254740993::bigint`.execute(db)).rejects.toThrow('exceeds 2^53');
});

test('a connection lost during a query fails only that query', async () => {
  const { db } = await freshDatabase();
  const cut = await sql`select pg_terminate_backend(pg_backend_pid())`.execute(db).catch((error: unknown) => error);
  expect(isConnectionError(cut)).toBe(true);
  expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
});

test('the connection pool replaces lost idle connections', async () => {
  const { address, db } = await freshDatabase();
  const client = new pg.Client(createClientConfig(address));
  await client.connect();
  await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`);
  await client.end();
  const ask = () =>
    sql`select 1 as one`.execute(db).then(
      ({ rows }) => rows,
      () => [],
    );
  await expect.poll(ask).toEqual([{ one: 1 }]);
});

test('the connection pool logs the loss of an idle connection without the settings of the connection', async () => {
  const { address, drop } = await createTestDatabase([]);
  onTestFinished(drop);
  const logged: unknown[][] = [];
  const db = await openDatabase<unknown>({ address, logger: { warn: (...line: unknown[]) => void logged.push(line) } });
  onTestFinished(() => db.destroy());
  const cut = `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`;
  const client = new pg.Client(createClientConfig(address));
  await client.connect();
  await client.query(cut);
  await client.end();
  await expect.poll(() => logged.length).toBeGreaterThan(0);
  expect(logged[0]).toEqual([{ why: expect.any(String) }, 'idle database connection lost']);
});

test('a connection lost before a transaction fails only that transaction', async () => {
  const { db } = await freshDatabase();
  const work = vi.fn((transaction: typeof db) => sql`select 1`.execute(transaction));
  const failing = db.connection().execute(async (connection) => {
    await sql`select pg_terminate_backend(pg_backend_pid())`.execute(connection).catch(() => undefined);
    await connection.transaction().execute(work);
  });
  expect(isConnectionError(await failing.catch((error: unknown) => error))).toBe(true);
  expect((await db.transaction().execute(work)).rows).toHaveLength(1);
});

test('a transaction without queries commits', async () => {
  const { db } = await freshDatabase();
  expect(await db.transaction().execute(() => Promise.resolve('done'))).toBe('done');
  expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
});

test('a transaction begins in the same exchange as its first statement', async () => {
  const relay = await openRelayedDatabase();
  const db = await openDatabase<unknown>({ address: { url: relay.url }, logger });
  onTestFinished(() => db.destroy());
  const before = relay.exchanges();
  await db.transaction().execute((transaction) => sql`select 1`.execute(transaction));
  expect(relay.exchanges() - before).toBe(2);
});

/**
 * Creates a database behind a proxy on a socket. The proxy accepts connections until `cut`, and again after `open`. `exchanges`
 * counts how often the database responded after a client had sent something.
 */
async function openRelayedDatabase() {
  const { url, drop } = await createTestDatabase([]);
  onTestFinished(drop);
  const directory = await mkdtemp(path.join(os.tmpdir(), 'bothost-relay-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const { host, port } = new pg.Client(createClientConfig({ url }));
  const streams = new Set<net.Socket>();
  let exchanges = 0;
  let isAsked = false;
  const server = net.createServer((inner) => {
    const outer = net.connect(host.startsWith('/') ? { path: path.join(host, `.s.PGSQL.${port}`) } : { host, port });
    for (const stream of [inner, outer]) streams.add(stream.on('error', () => undefined));
    inner.pipe(outer).pipe(inner);
    inner.on('data', () => (isAsked = true));
    outer.on('data', () => {
      if (isAsked) exchanges += 1;
      isAsked = false;
    });
  });
  const open = () => once(server.listen(path.join(directory, '.s.PGSQL.5432')), 'listening');
  const cut = () => {
    server.close();
    for (const stream of streams) stream.destroy();
  };
  onTestFinished(cut);
  await open();
  const relayed = new URL(url);
  relayed.searchParams.set('host', directory);
  relayed.searchParams.set('port', '5432');
  return { url: relayed.href, open, cut, exchanges: () => exchanges };
}

test('the connection pool calls onConnectionFailure if it cannot connect, then retries once', async () => {
  const relay = await openRelayedDatabase();
  let recovered = 0;
  const onConnectionFailure = async () => {
    recovered += 1;
    await relay.open();
  };
  const db = await openDatabase({ address: { url: relay.url }, logger, onConnectionFailure });
  onTestFinished(() => db.destroy());
  relay.cut();
  const ask = () =>
    sql`select 1 as one`.execute(db).then(
      ({ rows }) => rows,
      () => [],
    );
  await expect.poll(ask).toEqual([{ one: 1 }]);
  expect(recovered).toBe(1);
});

test('the connection pool fails with the original error if onConnectionFailure fails', async () => {
  const { address } = await freshDatabase();
  const nowhere = 'url' in address ? { url: 'postgresql://bothost@127.0.0.1:1/none' } : { ...address, port: 1 };
  const opened = openDatabase({ address: nowhere, logger, onConnectionFailure: () => Promise.reject(new Error('no')) });
  const error: unknown = await opened.catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'StoreError', message: expect.stringMatching(/ENOENT|ECONNREFUSED/) });
});

test('openDatabase reports an unreachable server without its password', async () => {
  const opened = openDatabase({ address: { url: 'postgresql://somebody:hunter2@127.0.0.1:1/none' }, logger });
  const error: unknown = await opened.catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'StoreError', message: expect.stringContaining('ECONNREFUSED 127.0.0.1:1') });
  expect(JSON.stringify(error) + String(error)).not.toContain('hunter2');
});

test('openDatabase refuses a database that does not store UTF-8', async () => {
  const { url, admin, drop } = await createTestDatabase([]);
  const name = `${new URL(url).pathname.slice(1)}_ascii`;
  await administer(admin, [
    `create database ${name} template template0 encoding 'SQL_ASCII' locale_provider libc locale 'C'`,
  ]);
  onTestFinished(() => administer(admin, [`drop database ${name} with (force)`]));
  onTestFinished(drop);
  const opened = openDatabase({ address: { url: withDatabase(url, name) }, logger });
  await expect(opened).rejects.toThrow('has the encoding SQL_ASCII');
});

test.each([
  [{ code: 'ECONNREFUSED' }, true],
  [{ code: 'ENOENT', syscall: 'connect' }, true],
  [{ code: 'ENOENT', syscall: 'open' }, false],
  [{ code: '57P01' }, true],
  [{ code: '57P03' }, true],
  [{ code: '53300' }, true],
  [{ code: '08006' }, true],
  [{ code: '57014' }, false],
  [{ code: '23505' }, false],
  [{ code: '53100' }, false],
  [{}, false],
])('isConnectionError for an error with %j returns %s', (fields, expected) => {
  expect(isConnectionError(Object.assign(new Error('x'), fields))).toBe(expected);
});

test('isConnectionError recognizes pg errors without a code', () => {
  expect(isConnectionError(new Error('Connection terminated unexpectedly'))).toBe(true);
  expect(isConnectionError(new AggregateError([Object.assign(new Error('x'), { code: 'ECONNREFUSED' })]))).toBe(true);
  expect(isConnectionError('Connection terminated')).toBe(false);
  expect(isDiskFullError(Object.assign(new Error('x'), { code: '53100' }))).toBe(true);
});
