import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TestRows, testRows } from '../../test/support/test-rows.ts';
import { createRateLimit } from '../concurrency/rate-limit.ts';
import { clientConfig } from '../store/address.ts';
import { appendAudit } from './append.ts';
import type { AuditEvent } from './chain.ts';
import { listAuditEntries } from './list.ts';
import { createRefusalLog, type Refusal } from './refusals.ts';
import { purgeAudit } from './retention.ts';
import { verifyAudit } from './verify.ts';

const day = 86_400_000;
/** Long ago: what is younger than a month by the clock of the database stays. */
const then = new Date('2020-06-20T12:00:00.000Z');
const actor = {
  keyId: '01890000-0000-7000-8000-000000000001',
  keyName: 'mine',
  address: '127.0.0.1',
  requestId: 'request-1',
};
const event = (number: number, more: Partial<AuditEvent> = {}): AuditEvent => ({
  at: new Date(then.getTime() - (10 - number) * day),
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

let rows: TestRows;
let home: string;
let clock = then.getTime();
const context = () => ({ db: rows.db, now: () => new Date(clock), logger: { warn: () => undefined } });
const append = (organizationId: string, one: AuditEvent) =>
  rows.db.transaction().execute((db) => appendAudit(db, organizationId, one));
const verify = (organizationId = home) => verifyAudit(context(), { organizationId });
const list = (query: object = {}) => listAuditEntries(context(), { organizationId: home }, { ...wholePage, ...query });
/** What no role but the owner of the tables could do. */
const tamper = async (...statements: string[]) => {
  await sql`alter table audit_events disable trigger user`.execute(rows.db);
  for (const statement of statements) await sql.raw(statement).execute(rows.db);
  await sql`alter table audit_events enable trigger user`.execute(rows.db);
};

beforeEach(async () => {
  clock = then.getTime();
  rows = await testRows();
  home = await rows.organization('home');
  for (let number = 1; number <= 9; number++) await append(home, event(number));
});
afterEach(() => rows.close());

describe('the chain of the audit log', () => {
  it('is whole as it was written, and says so with its last hash', async () => {
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
    const none = await rows.organization('none');
    expect(await verify(none)).toMatchObject({ ok: true, entries: 0, lastSequence: null });
  });

  it.each([
    ['at', `at + interval '1 ms'`],
    ['actor_key_id', 'null'],
    ['actor_key_name', `'other'`],
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
  ])('breaks at an entry whose %s was changed', async (column, expression) => {
    await tamper(`update audit_events set ${column} = ${expression} where sequence = 5`);
    expect(await verify()).toMatchObject({ ok: false, brokenAt: 5, entries: 4, lastSequence: 4 });
  });

  it('has each column of the table in its tests', async () => {
    const { rows: columns } = await sql<{ name: string }>`select column_name as name from information_schema.columns
      where table_name = 'audit_events' and column_name <> 'organization_id'`.execute(rows.db);
    expect(columns).toHaveLength(16);
  });

  it('breaks where an entry was taken out, put in twice, swapped or moved to another organization', async () => {
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

  it('is in order whoever appends at the same time', async () => {
    await Promise.all(Array.from({ length: 40 }, (_, number) => append(home, event(number))));
    expect(await verify()).toMatchObject({ ok: true, entries: 49 });
  });

  it('has no entry of a transaction that did not end well', async () => {
    const work = rows.db.transaction().execute(async (db) => {
      await appendAudit(db, home, event(10));
      throw new Error('killed');
    });
    await expect(work).rejects.toThrow('killed');
    expect(await verify()).toMatchObject({ ok: true, entries: 9 });
  });
});

describe('old entries', () => {
  const purge = (days: number) => purgeAudit(context(), days);

  const told = async () =>
    (await list({ action: 'audit.purge' })).entries.map(({ sequence, count, at }) => [sequence, count, at]);

  it('go by age, a day at a time, and the log tells it, can be verified and goes on', async () => {
    expect(await purge(0)).toBe(0);
    expect(await purge(4.5)).toBe(5);
    expect(await verify()).toMatchObject({ ok: true, entries: 5, firstSequence: 6, removedThrough: 5 });
    expect((await list()).entries.map(({ sequence }) => sequence)).toEqual([6, 7, 8, 9, 10]);
    expect(await told()).toEqual([[10, 5, then.toISOString()]]);
    clock += day / 3;
    expect(await purge(4.5)).toBe(0);
    await append(home, event(10));
    clock += 365 * day;
    expect(await purge(365)).toBe(4);
    expect(await purge(30)).toBe(2);
    expect((await told()).map(([sequence, count]) => [sequence, count])).toEqual([
      [12, 4],
      [13, 2],
    ]);
    expect(await verify()).toMatchObject({ ok: true, entries: 2, firstSequence: 12, removedThrough: 11 });
    await append(home, event(11));
    expect(await verify()).toMatchObject({ ok: true, entries: 3, firstSequence: 12 });
  });

  it('are told of while there are any: what only tells that entries went goes with what is older than it next time', async () => {
    clock += 100 * day;
    expect(await purge(30)).toBe(9);
    clock += 100 * day;
    expect(await purge(30)).toBe(0);
    await append(home, event(300));
    clock += 300 * day;
    expect(await purge(30)).toBe(2);
    expect(await verify()).toMatchObject({ ok: true, entries: 1, removedThrough: 11 });
  });

  it('go with the entry that tells it, or stay', async () => {
    await sql`create function no_room() returns trigger language plpgsql as
      $$ begin raise exception 'no room' using errcode = 'disk_full'; end $$`.execute(rows.db);
    await sql`create trigger no_room before insert on audit_events for each row execute function no_room()`.execute(
      rows.db,
    );
    await expect(purge(4.5)).rejects.toThrow('no room');
    expect(await verify()).toMatchObject({ ok: true, entries: 9, removedThrough: null });
  });

  it('go in batches that leave a whole log each, whose first entry cannot be changed', async () => {
    for (let number = 0; number < 1_100; number++) await append(home, event(1));
    clock += 300 * day;
    expect(await purge(290)).toBe(1_109);
    expect((await told()).map(([sequence, count]) => [sequence, count])).toEqual([
      [1_110, 1_000],
      [1_111, 109],
    ]);
    await append(home, event(12));
    await tamper(`update audit_events set object = 'x' where sequence = 1110`);
    expect(await verify()).toMatchObject({ ok: false, brokenAt: 1_110, entries: 0 });
  });

  it('are all there, or gone with a checkpoint, when the service dies while they go', async () => {
    const holder = new pg.Client(clientConfig(rows.database.address));
    await holder.connect();
    await holder.query('begin');
    await holder.query('select 1 from audit_events where sequence = 2 for update');
    const outcome = purge(4.5).catch((error: unknown) => error);
    const stuck = `select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    await expect.poll(async () => (await holder.query(stuck)).rowCount).toBe(1);
    await holder.query(`select pg_terminate_backend(pid) from (${stuck}) as waiting`);
    expect(await outcome).toBeInstanceOf(Error);
    await holder.query('rollback');
    await holder.end();
    expect(await verify()).toMatchObject({ ok: true, entries: 9, removedThrough: null });
    expect(await purge(4.5)).toBe(5);
    expect(await verify()).toMatchObject({ ok: true, entries: 5, removedThrough: 5 });
  });

  it.each([
    ['younger than a month', `interval '29 days'`, `interval '29 days'`],
    ['behind a younger one, as when an old time was written to the newest', `interval '29 days'`, `interval '90 days'`],
  ])('stay when they are %s, whoever wants them gone', async (_, second, third) => {
    const other = await rows.organization('other');
    await append(other, event(1));
    // Rows as the service's role could write them: by the clock of the database.
    const insert = (sequence: number, age: string) =>
      sql
        .raw(`insert into audit_events select organization_id, ${sequence}, now() - ${age}, actor_key_id, actor_key_name, address,
          request_id, action, object, region, keys, revision_before, revision_after, result, count, previous_hash, hash
          from audit_events where organization_id = '${other}' and sequence = 1`)
        .execute(rows.db);
    await insert(2, second);
    await insert(3, third);
    const checkpoint = (sequence: number) =>
      sql
        .raw(`insert into audit_checkpoints select organization_id, sequence, hash from audit_events
          where organization_id = '${other}' and sequence = ${sequence}
          on conflict (organization_id) do update set sequence = excluded.sequence`)
        .execute(rows.db);
    await expect(checkpoint(3)).rejects.toThrow('younger than 30 days');
    await expect(checkpoint(2)).rejects.toThrow('younger than 30 days');
    await checkpoint(1);
    await expect(checkpoint(3)).rejects.toThrow('younger than 30 days');
    await expect(sql`delete from audit_events where sequence > 1`.execute(rows.db)).rejects.toThrow('never changed');
  });

  it('stay for whoever only wants them gone: the checkpoint goes on to entries that are there, and no way else', async () => {
    const run = (statement: string) => sql.raw(statement).execute(rows.db);
    const made = `insert into audit_checkpoints select organization_id, sequence, hash from audit_events where sequence = 3`;
    await expect(run('delete from audit_events where sequence = 1')).rejects.toThrow('never changed or removed');
    await expect(run(made.replace(' hash from', ' previous_hash from'))).rejects.toThrow('only goes on');
    await expect(run(made.replace(' sequence,', ' sequence + 90,'))).rejects.toThrow('only goes on');
    await run(made);
    await expect(run('delete from audit_events where sequence = 4')).rejects.toThrow('never changed or removed');
    await expect(run('update audit_checkpoints set sequence = 2')).rejects.toThrow('only goes on');
    await expect(run('delete from audit_checkpoints')).rejects.toThrow('only goes on');
    await expect(run('truncate audit_checkpoints')).rejects.toThrow('only goes on');
    expect(await verify()).toMatchObject({ ok: false, brokenAt: 4 });
  });
});

describe('entries are listed', () => {
  const sequences = async (query: object) => (await list(query)).entries.map(({ sequence }) => sequence);

  it('by page from either end, stable while entries come', async () => {
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

  it('by time, action, object and result', async () => {
    await append(home, event(10, { action: 'secrets.delete', object: 'Set-2', result: 'secret-set-in-use' }));
    const at = (number: number) => event(number).at.toISOString();
    expect(await sequences({ since: at(3), until: at(5) })).toEqual([3, 4]);
    expect(await sequences({ action: 'secrets.delete' })).toEqual([10]);
    expect(await sequences({ object: 'sEt-2' })).toEqual([2, 10]);
    expect(await sequences({ object: 'set-2', result: 'done' })).toEqual([2]);
    expect(await sequences({ result: 'nothing' })).toEqual([]);
  });
});

describe('refusals', () => {
  const refusal = (): Refusal => ({
    organizationId: home,
    actor,
    action: 'secrets.get',
    object: 'none',
    keys: [],
    result: 'secret-set-not-found',
  });

  it('are bounded for each organization, and how many were left out is told', async () => {
    const log = createRefusalLog(context(), createRateLimit({ atOnce: 3, perSecond: 0.1 }, context().now));
    const other = await rows.organization('other');
    for (let number = 0; number < 50; number++) await log.tell(refusal());
    await log.tell({ ...refusal(), organizationId: other });
    expect(await verify()).toMatchObject({ ok: true, entries: 12 });
    expect(await verify(other)).toMatchObject({ ok: true, entries: 1 });
    clock += 10_000;
    await log.tell(refusal());
    const told = (await list({ since: then.toISOString() })).entries.slice(-2);
    expect(told).toMatchObject([
      { action: 'audit.left-out', object: null, keyId: null, result: 'too-many-refusals', count: 47 },
      { action: 'secrets.get', count: 1, keyName: 'mine', address: '127.0.0.1', requestId: 'request-1' },
    ]);
    await log.tell(refusal());
    await log.tellLeftOut();
    await log.tellLeftOut();
    expect((await list({ action: 'audit.left-out' })).entries.map(({ count }) => count)).toEqual([47, 1]);
    expect(await verify()).toMatchObject({ ok: true, entries: 15 });
  });

  it('that cannot be written do not fail the answer', async () => {
    const log = createRefusalLog(context(), { take: () => true });
    await expect(log.tell({ ...refusal(), organizationId: crypto.randomUUID() })).resolves.toBeUndefined();
  });
});
