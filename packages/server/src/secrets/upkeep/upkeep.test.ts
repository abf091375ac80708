import { randomBytes } from 'node:crypto';
import { copyFile, cp, mkdtemp, readdir, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TestRows, testRows } from '../../../test/support/test-rows.ts';
import { pairs, testPolicy } from '../../../test/support/test-vault.ts';
import { newId } from '../../store/uuid.ts';
import { deliverSecrets } from '../deliver.ts';
import { openPinned } from '../pin.ts';
import { openVault, type RootKeySource } from '../vault/open-vault.ts';
import { wantedSecrets } from '../wanted.ts';
import { writeSecrets } from '../write.ts';
import { retireFormerKeys } from './retire.ts';
import { rotateOrganizationKeys, rotateRootKey, startReencrypting, startVerifying } from './start.ts';
import { vaultStatus } from './status.ts';
import { taskChanged } from './task-proof.ts';
import { listTasks } from './task-rows.ts';
import { workOn } from './work.ts';

/** A clock of its own, on which no two moments are the same. */
function clock(from = '2026-11-20T12:00:00.000Z') {
  let moment = Date.parse(from);
  return () => {
    moment += 1;
    return new Date(moment);
  };
}

describe('a vault', () => {
  let rows: TestRows;
  let home: string;
  let other: string;
  let directory: string;
  const commonClock = clock();

  beforeEach(async () => {
    rows = await testRows();
    home = await rows.organization('home');
    other = await rows.organization('other');
    directory = await mkdtemp(join(tmpdir(), 'vault-'));
  });
  afterEach(async () => {
    await rows.close();
    await rm(directory, { recursive: true });
  });

  /** As a server that starts now has it; its clock may be another one than that of the others. */
  async function server(source: RootKeySource = { folder: directory }, now = commonClock) {
    const { keyring, rootKeys } = await openVault({ db: rows.db, now, isAlone: true }, source);
    const host = { id: newId(), region: 'us-west' };
    const signal = new AbortController().signal;
    const context = {
      db: rows.db,
      now,
      newId,
      keyring,
      rootKeys,
      signal,
      pinsOf: async () => [],
      pinnedIn: async () => [],
      otherRegions: async () => [],
    };
    return {
      context,
      put: (organizationId: string, name: string, values: Record<string, string>) =>
        writeSecrets(context, { organizationId, keyId: newId() }, name, wantedSecrets(pairs(values), testPolicy), {
          known: ['us-west'],
          standard: 'us-west',
        }),
      deliver: () => deliverSecrets({ ...context, host, logger: pino({ level: 'silent' }) }),
      values: async (organizationId: string, name: string, revision = 1) => {
        const { rows: found } = await sql<{ id: string }>`select id from secret_sets
          where organization_id = ${organizationId} and name = ${name}`.execute(rows.db);
        return openPinned(context, organizationId, [{ secretSet: name, setId: found[0]?.id ?? '', revision }]);
      },
      /** Does all that was asked for. */
      work: async () => {
        for (const task of await listTasks(rows.db, 'running')) while (!(await workOn(context, task)));
      },
      findings: async () => (await listTasks(rows.db)).flatMap(({ findings }) => findings),
      status: () => vaultStatus(context),
    };
  }
  type Server = Awaited<ReturnType<typeof server>>;

  async function filled(source?: RootKeySource, now?: () => Date): Promise<Server> {
    const one = await server(source, now);
    await one.put(home, 'keys', { A: 'one', B: 'two' });
    await one.put(home, 'keys', { A: 'three' });
    await one.put(other, 'keys', { C: 'four' });
    return one;
  }
  const all = async (one: Server) => [
    await one.values(home, 'keys', 1),
    await one.values(home, 'keys', 2),
    await one.values(other, 'keys'),
  ];
  const expected = [{ A: 'one', B: 'two' }, { A: 'three', B: 'two' }, { C: 'four' }];

  describe('with key files', () => {
    it('goes over to a new one, and does not need the former one any more', async () => {
      const one = await filled();
      const [former = ''] = await readdir(directory);
      await rotateRootKey(one.context);
      expect(await one.status()).toMatchObject({ behind: { keys: 6 }, tasks: [{ task: 'rekey', state: 'running' }] });
      await one.put(await rows.organization('young'), 'keys', { D: 'five' });
      expect(await one.status()).toMatchObject({ behind: { keys: 6 } });
      expect(await all(one)).toEqual(expected);
      await one.work();
      const status = await one.status();
      expect(status).toMatchObject({
        behind: { keys: 0 },
        tasks: [{ task: 'rekey', state: 'done', done: 9, total: 9 }],
      });
      expect(status.rootKeys).toEqual([
        { id: expect.not.stringMatching(former), current: true, atHand: true, wraps: 9 },
        { id: former, current: false, atHand: true, wraps: 0 },
      ]);
      await unlink(join(directory, former));
      expect(await all(await server())).toEqual(expected);
    });

    it('goes on with what a server that died has left, and says what it needs until then', async () => {
      const one = await filled();
      const [former = ''] = await readdir(directory);
      await rotateRootKey(one.context);
      const next = await server();
      expect(await all(next)).toEqual(expected);
      await next.work();
      expect(await next.status()).toMatchObject({ behind: { keys: 0 }, tasks: [{ task: 'rekey', state: 'done' }] });
      expect((await next.status()).rootKeys.find(({ id }) => id === former)).toMatchObject({ wraps: 0 });
    });

    it('refuses a second change while one is going on', async () => {
      const one = await filled();
      await rotateRootKey(one.context);
      const files = await readdir(directory);
      await expect(rotateRootKey(one.context)).rejects.toMatchObject({ reason: 'vault-busy' });
      expect(await readdir(directory)).toEqual(files);
    });

    it('makes no new one while a server of another region is alive, which would not have it', async () => {
      const one = await filled();
      const files = await readdir(directory);
      const beside = { ...one.context, otherRegions: async () => ['eu-north'] };
      const told = expect.stringMatching(/eu-north.*BOTHOST_VAULT_KEYS.*docs\/operations\.md/);
      await expect(rotateRootKey(beside)).rejects.toMatchObject({ reason: 'root-key-not-shared', message: told });
      expect(await readdir(directory)).toEqual(files);
      expect(await one.status()).toMatchObject({ behind: { keys: 0 }, tasks: [] });
    });

    it('is read by a server that runs as soon as its file is copied there', async () => {
      const one = await filled();
      const [former = ''] = await readdir(directory);
      const folder = join(directory, '..', `${basename(directory)}-second`);
      await cp(directory, folder, { recursive: true });
      try {
        const second = await server({ folder });
        await rotateRootKey(one.context);
        await one.work();
        const next = (await readdir(directory)).find((name) => name !== former) ?? '';
        await expect(all(second)).rejects.toThrow('has to put a root key back');
        expect((await second.status()).rootKeys).toContainEqual({ id: next, current: true, atHand: false, wraps: 6 });
        await writeFile(join(folder, next), 'half of it', { mode: 0o600 });
        await expect(all(second)).rejects.toThrow('has to put a root key back');
        await copyFile(join(directory, next), join(folder, next));
        expect(await all(second)).toEqual(expected);
        expect((await second.status()).rootKeys).toContainEqual({ id: next, current: true, atHand: true, wraps: 6 });
      } finally {
        await rm(folder, { recursive: true });
      }
    });

    it('leaves a key that does not unwrap as it is, tells of it, and goes on with the others', async () => {
      const one = await filled();
      await sql`update vault_keys set wrapped = set_byte(wrapped, 14, get_byte(wrapped, 14) # 1)
        where organization_id = ${other} and purpose = 'value'`.execute(rows.db);
      await rotateRootKey(one.context);
      await one.work();
      expect(await one.findings()).toEqual([
        { organization: 'other', set: null, problem: expect.stringContaining('the value key of version 1') },
      ]);
      expect(await one.status()).toMatchObject({ behind: { keys: 1 } });
      expect(await one.values(home, 'keys')).toEqual(expected[0]);
    });
  });

  describe('with keys of the settings', () => {
    const [old, young] = [randomBytes(32), randomBytes(32)];

    it('goes over to the first of them when it is asked to', async () => {
      const before = await filled({ keys: [old] });
      await expect(rotateRootKey(before.context)).rejects.toMatchObject({ reason: 'root-key-not-given' });
      await expect(server({ keys: [young] })).rejects.toThrow('Put that key back');
      const both = await server({ keys: [young, old] });
      expect(await all(both)).toEqual(expected);
      await startVerifying(both.context, null);
      await both.work();
      await rotateRootKey(both.context);
      await both.work();
      const after = await server({ keys: [young] });
      expect(await all(after)).toEqual(expected);
      const found = (await after.status()).tasks.map(({ task, findings }) => [task, findings]);
      expect(found).toEqual(
        expect.arrayContaining([
          ['verify', []],
          ['rekey', []],
        ]),
      );
      await expect(server({ keys: [old] })).rejects.toThrow('Put that key back');
    });

    it('needs the former one for no work that was asked for before and goes on later', async () => {
      await filled({ keys: [old] });
      const both = await server({ keys: [young, old] });
      await startVerifying(both.context, null);
      await rotateRootKey(both.context);
      const rekey = (await listTasks(rows.db, 'running')).find(({ task }) => task === 'rekey');
      if (rekey === undefined) throw new Error('no task');
      while (!(await workOn(both.context, rekey)));
      const after = await server({ keys: [young] });
      await after.work();
      expect((await after.status()).tasks).toMatchObject([
        { task: 'verify', state: 'done', findings: [] },
        { task: 'rekey', state: 'done', findings: [] },
      ]);
    });

    it('needs the former one until the results of earlier work are proved with it, though a server dies over that', async () => {
      await filled({ keys: [old] });
      const both = await server({ keys: [young, old] });
      await startVerifying(both.context, null);
      await both.work();
      await rotateRootKey(both.context);
      await sql`create function dies() returns trigger language plpgsql as $$ begin raise 'died'; end $$`.execute(
        rows.db,
      );
      await sql`create trigger dies before update on vault_tasks for each row when (old.task = 'verify')
        execute function dies()`.execute(rows.db);
      await expect(both.work()).rejects.toThrow('died');
      await sql`drop trigger dies on vault_tasks`.execute(rows.db);
      await both.work();
      expect((await (await server({ keys: [young] })).status()).tasks).toMatchObject([
        { task: 'verify', state: 'done', findings: [] },
        { task: 'rekey', state: 'done', findings: [] },
      ]);
    });

    it('goes over to it to the end though its task was changed in the database, and tells that', async () => {
      await filled({ keys: [old] });
      const both = await server({ keys: [young, old] });
      await rotateRootKey(both.context);
      await sql`update vault_tasks set created_at = created_at - interval '1 day'`.execute(rows.db);
      await both.work();
      expect(await both.findings()).toEqual([taskChanged]);
      expect(await all(await server({ keys: [young] }))).toEqual(expected);
    });

    it('goes over from key files to them', async () => {
      await filled();
      const both = await server({ keys: [young], folder: directory });
      await rotateRootKey(both.context);
      await both.work();
      expect(await all(await server({ keys: [young] }))).toEqual(expected);
    });
  });

  describe('whose organizations have new keys', () => {
    it('seals what is written with them, and what was written when it is asked to', async () => {
      const one = await filled();
      await rotateOrganizationKeys(one.context, null);
      await one.work();
      await one.put(home, 'keys', { E: 'six' });
      expect(await one.status()).toMatchObject({ values: 5, behind: { values: 4, sets: 2 } });
      await startReencrypting(one.context);
      await one.work();
      expect(await one.status()).toMatchObject({
        behind: { keys: 0, values: 0, sets: 0 },
        formerKeys: { inUse: 0, retirable: 6 },
      });
      expect(await all(one)).toEqual(expected);
      expect(await one.values(home, 'keys', 3)).toEqual({ A: 'three', B: 'two', E: 'six' });
    });

    it('have them though their former ones were made by a clock that ran ahead', async () => {
      await filled(undefined, clock('2027-11-20T12:00:00.000Z'));
      const one = await server();
      await rotateOrganizationKeys(one.context, null);
      await one.work();
      expect(await one.status()).toMatchObject({ behind: { values: 4, sets: 2 }, tasks: [{ state: 'done' }] });
    });

    it('have them once, whoever goes on with what a server that died has left', async () => {
      const one = await filled();
      await rotateOrganizationKeys(one.context, null);
      const [task] = await listTasks(rows.db, 'running');
      if (task === undefined) throw new Error('no task');
      const dies = { ...one.context, signal: AbortSignal.abort(new Error('died')) };
      await expect(workOn(dies, task)).rejects.toThrow('died');
      // Another server began when this one did, and another one begins now.
      await expect(workOn(dies, task)).rejects.toThrow('died');
      await one.work();
      const { rows: versions } = await sql`select max(version) as newest, count(*)::int as keys from vault_keys
        group by organization_id, purpose`.execute(rows.db);
      expect(versions).toEqual(Array(6).fill({ newest: 2, keys: 2 }));
      const { rows: told } = await sql`select organization_id from audit_events where action = 'vault.rotate'
        and result = 'done' order by organization_id`.execute(rows.db);
      expect(told).toEqual([home, other].toSorted().map((organization_id) => ({ organization_id })));
    });

    it('can be those of one alone', async () => {
      const one = await filled();
      await rotateOrganizationKeys(one.context, 'other');
      await one.work();
      expect(await one.status()).toMatchObject({ behind: { values: 1, sets: 1 } });
      await expect(rotateOrganizationKeys(one.context, 'nobody')).rejects.toMatchObject({
        reason: 'organization-not-found',
      });
    });

    it('gets rid of a former key only when nothing is sealed with it', async () => {
      const one = await filled();
      await rotateOrganizationKeys(one.context, null);
      await one.work();
      expect(await retireFormerKeys(one.context)).toBe(0);
      expect(await all(one)).toEqual(expected);
      await startReencrypting(one.context);
      await one.work();
      expect(await retireFormerKeys(one.context)).toBe(6);
      expect(await retireFormerKeys(one.context)).toBe(0);
      expect(await all(await server())).toEqual(expected);
    });

    it('never seals anew what is not as it was written', async () => {
      const one = await filled();
      await rotateOrganizationKeys(one.context, null);
      await one.work();
      await sql`update secret_values set sealed = set_byte(sealed, 50, get_byte(sealed, 50) # 1)
        where key = 'C'`.execute(rows.db);
      await sql`update secret_revisions set created_at = created_at + interval '1 s' where entries @> '[["C", 1]]'`.execute(
        rows.db,
      );
      await startReencrypting(one.context);
      await one.work();
      expect(await one.findings()).toEqual([
        { organization: 'other', set: 'keys', problem: expect.stringContaining('does not open') },
        { organization: 'other', set: 'keys', problem: expect.stringContaining('was changed') },
      ]);
      expect(await one.status()).toMatchObject({ behind: { values: 1, sets: 1 }, formerKeys: { inUse: 3 } });
      await expect(one.values(other, 'keys')).rejects.toThrow('damaged');
      expect(await one.values(home, 'keys')).toEqual(expected[0]);
    });

    it('ends also where the newest key of one organization is damaged, and is done for the others', async () => {
      const one = await filled();
      await rotateOrganizationKeys(one.context, null);
      await one.work();
      await sql`update vault_keys set wrapped = set_byte(wrapped, 14, get_byte(wrapped, 14) # 1)
        where organization_id = ${other} and purpose = 'stamp' and version = 2`.execute(rows.db);
      await startReencrypting(one.context);
      await one.work();
      expect(new Set((await one.findings()).map(({ organization }) => organization))).toEqual(new Set(['other']));
      expect(await one.status()).toMatchObject({ behind: { values: 1, sets: 1 }, tasks: [{}, { state: 'done' }] });
      expect(await all(one)).toEqual(expected);
    });

    it('leaves what somebody is at for the next time around', async () => {
      const one = await filled();
      await rotateOrganizationKeys(one.context, null);
      await one.work();
      await startReencrypting(one.context);
      const [task] = await listTasks(rows.db, 'running');
      if (task === undefined) throw new Error('no task');
      await rows.db.transaction().execute(async (db) => {
        await sql`select from secret_values where key = 'C' for update`.execute(db);
        expect(await workOn(one.context, task)).toBe(false);
        expect(await one.status()).toMatchObject({ behind: { values: 1, sets: 0 } });
      });
      expect(await workOn(one.context, task)).toBe(true);
    });
  });

  it('gives right values to all who read and write while every layer of it goes round', async () => {
    const one = await filled();
    let isOver = false;
    let written = 2;
    const writes = (async () => {
      while (!isOver) {
        await one.put(home, 'keys', { A: `value ${written}` });
        written += 1;
        await one.deliver();
        expect(await one.values(home, 'keys', written)).toEqual({ A: `value ${written - 1}`, B: 'two' });
        if (written > 12) await one.put(await rows.organization(), 'keys', { D: 'five' });
      }
    })();
    const reads = (async () => {
      while (!isOver) expect(await all(one)).toEqual(expected);
    })();
    for (let round = 0; round < 5; round += 1) {
      await rotateRootKey(one.context);
      await one.work();
      await rotateOrganizationKeys(one.context, null);
      await one.work();
      await startReencrypting(one.context);
      await one.work();
      await retireFormerKeys(one.context);
    }
    isOver = true;
    await Promise.all([writes, reads]);
    await startVerifying(one.context, null);
    await one.work();
    expect(await one.findings()).toEqual([]);
    const { rows: states } = await sql`select distinct state from secret_deliveries
      where state <> 'pending'`.execute(rows.db);
    expect(states).toEqual([{ state: 'ready' }]);
    expect(written).toBeGreaterThan(2);
  });
});
