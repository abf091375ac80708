import { once } from 'node:events';
import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabaseRows, type TestDatabaseRows } from '../../test/support/test-rows.ts';
import { createRateLimit } from '../concurrency/rate-limit.ts';
import { createClientConfig } from '../store/address.ts';
import { appendAudit } from './append.ts';
import type { NewAuditEvent } from './chain.ts';
import { listAuditEntries } from './list.ts';
import { createRefusalLog, type Refusal } from './refusals.ts';
import { purgeAudit } from './retention.ts';
import { verifyAudit } from './verify.ts';

const day = 86_400_000;
/** A fixed time more than 30 days ago, because a database trigger refuses to delete younger audit entries. */
const now = new Date('2020-06-20T12:00:00.000Z');
const actor = {
  keyId: '01890000-0000-7000-8000-000000000001',
  keyName: 'mine',
  person: { id: '01890000-0000-7000-8000-000000000001', email: 'ada@example.com' },
  address: '127.0.0.1',
  requestId: 'request-1',
};
const event = (number: number, more: Partial<NewAuditEvent> = {}): NewAuditEvent => ({
  at: new Date(now.getTime() - (10 - number) * day),
  actor,
  action: 'secrets.set',
  object: `set-${number}`,
  region: 'us-west',
  keys: ['A', 'B'],
  revisionBefore: number,
  revisionAfter: number + 1,
  result: 'done',
  ...more,
});
const wholePage = { order: 'asc', limit: 1_000 } as const;

let rows: TestDatabaseRows;
let home: string;
let clock = now.getTime();
const context = () => ({ db: rows.db, now: () => new Date(clock), logger: { warn: () => undefined } });
const append = (organizationId: string, one: NewAuditEvent) =>
  rows.db.transaction().execute((db) => appendAudit(db, organizationId, one));
const verify = (organizationId = home) => verifyAudit(context(), { organizationId });
const list = (query: object = {}) => listAuditEntries(context(), { organizationId: home }, { ...wholePage, ...query });
/** Runs SQL statements with the triggers of the audit log disabled, as only the owner of the table can do. */
const tamper = async (...statements: string[]) => {
  await sql`alter table audit_events disable trigger user`.execute(rows.db);
  for (const statement of statements) await sql.raw(statement).execute(rows.db);
  await sql`alter table audit_events enable trigger user`.execute(rows.db);
};

beforeEach(async () => {
  clock = now.getTime();
  rows = await createTestDatabaseRows();
  home = await rows.organization('home');
  for (let number = 1; number <= 9; number++) await append(home, event(number));
});
afterEach(() => rows.close());

describe('verifyAudit', () => {
  it('accepts an unchanged log and returns its last hash', async () => {
    const { entries } = await list();
    expect(await verify()).toEqual({
      ok: true,
      entries: 9,
      firstSequence: 1,
      lastSequence: 9,
      lastHash: entries.at(-1)?.hash,
      removedThrough: null,
      brokenAt: null,
    });
    const empty = await rows.organization('empty');
    expect(await verify(empty)).toMatchObject({ ok: true, entries: 0, lastSequence: null });
  });

  it.each([
    ['at', `at + interval '1 ms'`],
    ['actor_key_id', 'null'],
    ['actor_key_name', `'other'`],
    ['actor_user_id', 'null'],
    ['actor_user_email', `'eve@example.com'`],
    ['address', 'null'],
    ['request_id', `'request-2'`],
    ['action', `'secrets.get'`],
    ['object', `'set-4'`],
    ['region', 'null'],
    ['keys', `'["A"]'`],
    ['revision_before', 'null'],
    ['revision_after', '7'],
    ['result', `'dry-run'`],
    ['count', '2'],
    ['previous_hash', 'set_byte(previous_hash, 3, get_byte(previous_hash, 3) # 1)'],
    ['hash', 'set_byte(hash, 31, get_byte(hash, 31) # 128)'],
    ['sequence', '500'],
  ])('reports the entry whose %s was changed', async (column, expression) => {
    await tamper(`update audit_events set ${column} = ${expression} where sequence = 5`);
    expect(await verify()).toMatchObject({ ok: false, brokenAt: 5, entries: 4, lastSequence: 4 });
  });

  it('is tested with a change to each of the 18 columns of the audit log', async () => {
    const { rows: columns } = await sql<{ name: string }>`select column_name as name from information_schema.columns
      where table_name = 'audit_events' and column_name <> 'organization_id'`.execute(rows.db);
    expect(columns).toHaveLength(18);
  });

  it('reports where an entry was removed, renumbered or moved to another organization', async () => {
    const other = await rows.organization('other');
    await append(other, event(1));
    await tamper('delete from audit_events where sequence = 3');
    expect(await verify()).toMatchObject({ ok: false, brokenAt: 3 });
    await tamper(
      'update audit_events set sequence = 3 where sequence = 4',
      `update audit_events set organization_id = '${other}', sequence = 2 where sequence = 9`,
    );
    expect(await verify()).toMatchObject({ ok: false, brokenAt: 3 });
    expect(await verify(other)).toMatchObject({ ok: false, brokenAt: 2 });
  });
});

describe('appendAudit', () => {
  it('keeps one hash chain when many events are appended concurrently', async () => {
    await Promise.all(Array.from({ length: 40 }, (_, number) => append(home, event(number))));
    expect(await verify()).toMatchObject({ ok: true, entries: 49 });
  });

  it('stores no entry if its transaction is rolled back', async () => {
    const transaction = rows.db.transaction().execute(async (db) => {
      await appendAudit(db, home, event(10));
      throw new Error('killed');
    });
    await expect(transaction).rejects.toThrow('killed');
    expect(await verify()).toMatchObject({ ok: true, entries: 9 });
  });
});

describe('audit log retention', () => {
  const purge = (days: number) => purgeAudit(context(), days);
  const sequences = async (organizationId = home) =>
    (await listAuditEntries(context(), { organizationId }, wholePage)).entries.map(({ sequence }) => sequence);

  it('deletes entries older than the given age, and the remaining log verifies', async () => {
    expect(await purge(0)).toBe(0);
    expect(await purge(4.5)).toBe(5);
    expect(await verify()).toMatchObject({ ok: true, entries: 4, firstSequence: 6, removedThrough: 5 });
    expect(await purge(4.5)).toBe(0);
    await append(home, event(10));
    expect(await sequences()).toEqual([6, 7, 8, 9, 10]);
    expect(await verify()).toMatchObject({ ok: true, entries: 5, firstSequence: 6, lastSequence: 10 });
  });

  it('keeps the newest entry however old it is', async () => {
    clock += 365 * day;
    expect(await purge(30)).toBe(8);
    expect(await purge(30)).toBe(0);
    await append(home, event(10));
    expect(await sequences()).toEqual([9, 10]);
    expect(await verify()).toMatchObject({ ok: true, entries: 2, firstSequence: 9, removedThrough: 8 });
  });

  it('keeps an expired entry that follows an entry that has not expired', async () => {
    await append(home, event(1));
    await append(home, event(10));
    expect(await purge(4.5)).toBe(5);
    expect(await sequences()).toEqual([6, 7, 8, 9, 10, 11]);
  });

  it('deletes old entries of all organizations', async () => {
    const other = await rows.organization('other');
    for (const number of [1, 8, 9]) await append(other, event(number));
    expect(await purge(4.5)).toBe(6);
    expect(await sequences(other)).toEqual([2, 3]);
    expect(await verify(other)).toMatchObject({ ok: true, entries: 2, removedThrough: 1 });
  });

  it('lets verifyAudit report a change to the oldest remaining entry', async () => {
    await purge(4.5);
    await tamper(`update audit_events set object = 'x' where sequence = 6`);
    expect(await verify()).toMatchObject({ ok: false, brokenAt: 6, entries: 0 });
  });

  it('deletes nothing when its database connection is terminated', async () => {
    const holder = new pg.Client(createClientConfig(rows.database.address));
    await holder.connect();
    await holder.query('begin');
    await holder.query('select 1 from audit_events where sequence = 2 for update');
    const outcome = purge(4.5).catch((error: unknown) => error);
    const blocked = `select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    await expect.poll(async () => (await holder.query(blocked)).rowCount).toBe(1);
    await holder.query(`select pg_terminate_backend(pid) from (${blocked}) as waiting`);
    expect(await outcome).toBeInstanceOf(Error);
    await holder.query('rollback');
    await holder.end();
    expect(await verify()).toMatchObject({ ok: true, entries: 9, removedThrough: null });
    expect(await purge(4.5)).toBe(5);
  });
});

describe('the triggers of the audit log', () => {
  it('refuse changes, and the deletion of entries younger than 30 days', async () => {
    const other = await rows.organization('other');
    await append(other, event(1, { at: new Date(Date.now() - 31 * day) }));
    await append(other, event(2, { at: new Date(Date.now() - 29 * day) }));
    const run = (statement: string) => sql.raw(`${statement} where organization_id = '${other}'`).execute(rows.db);
    await expect(run('update audit_events set count = 2')).rejects.toThrow('never changed');
    await expect(run('delete from audit_events')).rejects.toThrow('before they are 30 days old');
    await expect(sql`truncate audit_events`.execute(rows.db)).rejects.toThrow('never changed');
    expect(await verify(other)).toMatchObject({ ok: true, entries: 2 });
  });
});

describe('listAuditEntries', () => {
  const sequences = async (query: object) => (await list(query)).entries.map(({ sequence }) => sequence);

  it('returns the entries of a person or an API key, ignoring case', async () => {
    const { person: _, ...key } = actor;
    await append(home, event(10, { actor: { ...key, keyName: 'CI' } }));
    await append(home, event(11, { actor: { ...actor, person: { ...actor.person, email: 'Eve@example.com' } } }));
    const byActor = (name: string) => sequences({ actor: name });
    expect(await byActor('ci')).toEqual([10]);
    expect(await byActor('eve@EXAMPLE.com')).toEqual([11]);
    expect(await byActor('nobody')).toEqual([]);
  });

  it('returns stable pages in ascending and descending order while entries are appended', async () => {
    const first = await list({ order: 'desc', limit: 4 });
    expect(first.entries.map(({ sequence }) => sequence)).toEqual([9, 8, 7, 6]);
    await append(home, event(10));
    const second = await list({ order: 'desc', limit: 4, cursor: first.nextCursor });
    expect(second.entries.map(({ sequence }) => sequence)).toEqual([5, 4, 3, 2]);
    expect(await list({ order: 'desc', limit: 4, cursor: second.nextCursor })).toMatchObject({
      entries: [{ sequence: 1 }],
      nextCursor: null,
    });
    expect((await list({ limit: 10 })).nextCursor).toBeNull();
    await expect(list({ cursor: 'x' })).rejects.toMatchObject({ reason: 'invalid-request' });
  });

  it('filters by time, action, object and result', async () => {
    await append(home, event(10, { action: 'secrets.delete', object: 'Set-2', result: 'secret-set-in-use' }));
    const at = (number: number) => event(number).at.toISOString();
    expect(await sequences({ since: at(3), until: at(5) })).toEqual([3, 4]);
    expect(await sequences({ action: 'secrets.delete' })).toEqual([10]);
    expect(await sequences({ object: 'sEt-2' })).toEqual([2, 10]);
    expect(await sequences({ object: 'set-2', result: 'done' })).toEqual([2]);
    expect(await sequences({ result: 'nothing' })).toEqual([]);
  });
});

describe('createRefusalLog', () => {
  const refusal = (): Refusal => ({
    organizationId: home,
    actor,
    action: 'secrets.get',
    object: 'none',
    keys: [],
    result: 'secret-set-not-found',
  });

  it('limits the entries of each organization and records the number of omitted entries', async () => {
    const log = createRefusalLog(context(), createRateLimit({ burst: 3, perSecond: 0.1 }, context().now));
    const other = await rows.organization('other');
    for (let number = 0; number < 50; number++) await log.record(() => [refusal()]);
    await log.record(() => [{ ...refusal(), organizationId: other }]);
    expect(await verify()).toMatchObject({ ok: true, entries: 12 });
    expect(await verify(other)).toMatchObject({ ok: true, entries: 1 });
    clock += 10_000;
    await log.record(() => [refusal()]);
    const recorded = (await list({ since: now.toISOString() })).entries.slice(-2);
    expect(recorded).toMatchObject([
      { action: 'audit.left-out', object: null, keyId: null, result: 'too-many-refusals', count: 47 },
      { action: 'secrets.get', count: 1, keyName: 'mine', address: '127.0.0.1', requestId: 'request-1' },
    ]);
    await log.record(() => [refusal()]);
    await log.recordLeftOut();
    await log.recordLeftOut();
    expect((await list({ action: 'audit.left-out' })).entries.map(({ count }) => count)).toEqual([47, 1]);
    expect(await verify()).toMatchObject({ ok: true, entries: 15 });
  });

  it('returns a log whose record method resolves even if an entry cannot be written', async () => {
    const log = createRefusalLog(context(), { take: () => true });
    const refusals = [{ ...refusal(), organizationId: crypto.randomUUID() }];
    await expect(log.record(() => refusals)).resolves.toBeUndefined();
    await expect(log.record(() => Promise.reject(new Error('no database')))).resolves.toBeUndefined();
  });

  it('waits in recordLeftOut for refusals that are still being found', async () => {
    const log = createRefusalLog(context(), { take: () => true });
    const found = new AbortController();
    void log.record(async () => {
      await once(found.signal, 'abort');
      return [refusal()];
    });
    const settled = log.recordLeftOut();
    found.abort();
    await settled;
    expect(await list({ action: 'secrets.get' })).toMatchObject({ entries: [{ object: 'none' }] });
  });
});
