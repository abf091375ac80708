import { randomBytes } from 'node:crypto';
import { copyFile, cp, mkdtemp, readdir, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabaseRows, type TestDatabaseRows } from '../../../test/support/test-rows.ts';
import { createPutSecretsRequest, exampleImageRegistryConnectionPolicy } from '../../../test/support/test-vault.ts';
import { newId } from '../../store/uuid.ts';
import { deliverSecrets } from '../deliver.ts';
import { decryptForDeployment } from '../pin.ts';
import { findProviderKey, storeProviderKey } from '../provider-key.ts';
import { openVault, type RootKeySource } from '../vault/open-vault.ts';
import { writeSecrets } from '../write.ts';
import { parseWriteRequest } from '../write-request.ts';
import { reencryptSecrets } from './reencrypt.ts';
import { runTask } from './run-task.ts';
import { rotateOrganizationKeys, rotateRootKey } from './start.ts';
import { readVaultStatus } from './status.ts';
import { listTasks } from './task-rows.ts';

/** A clock that advances by 1 ms at each reading, so that no two times are equal. */
function clock() {
  let moment = Date.parse('2026-11-20T12:00:00.000Z');
  return () => {
    moment += 1;
    return new Date(moment);
  };
}

describe('rotation of vault keys', () => {
  let rows: TestDatabaseRows;
  let home: string;
  let other: string;
  let directory: string;
  const now = clock();

  beforeEach(async () => {
    rows = await createTestDatabaseRows();
    home = await rows.organization('home');
    other = await rows.organization('other');
    directory = await mkdtemp(join(tmpdir(), 'vault-'));
  });
  afterEach(async () => {
    await rows.close();
    await rm(directory, { recursive: true });
  });

  async function server(source: RootKeySource = { folder: directory }) {
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
      otherRegions: async () => [],
    };
    return {
      context,
      put: (organizationId: string, name: string, values: Record<string, string>) =>
        writeSecrets(
          context,
          { organizationId, keyId: newId() },
          name,
          parseWriteRequest(createPutSecretsRequest(values), exampleImageRegistryConnectionPolicy),
          {
            known: ['us-west'],
            standard: 'us-west',
          },
        ),
      deliver: () => deliverSecrets({ ...context, host, logger: pino({ level: 'silent' }) }),
      values: async (organizationId: string, name: string, revision = 1) => {
        const { rows: found } = await sql<{ id: string }>`select id from secret_sets
          where organization_id = ${organizationId} and name = ${name}`.execute(rows.db);
        const pins = [{ secretSet: name, setId: found[0]?.id ?? '', revision }];
        return decryptForDeployment(context, { organizationId, region: 'us-west', pins });
      },
      work: async () => {
        for (const task of await listTasks(rows.db, 'running')) while (!(await runTask(context, task)));
      },
      findings: async () => (await listTasks(rows.db)).flatMap(({ findings }) => findings),
      status: () => readVaultStatus(context),
    };
  }
  type Server = Awaited<ReturnType<typeof server>>;

  async function filled(source?: RootKeySource): Promise<Server> {
    const one = await server(source);
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

  describe('rotateRootKey with key files', () => {
    it('rewraps all organization keys, after which the former key file is not needed', async () => {
      const one = await filled();
      const [former = ''] = await readdir(directory);
      await rotateRootKey(one.context);
      expect(await one.status()).toMatchObject({ behind: { keys: 6 }, tasks: [{ task: 'rekey', state: 'running' }] });
      await one.put(await rows.organization('later'), 'keys', { D: 'five' });
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

    it('is continued by the next server process if the server is killed', async () => {
      const one = await filled();
      const [former = ''] = await readdir(directory);
      await rotateRootKey(one.context);
      const next = await server();
      expect(await all(next)).toEqual(expected);
      await next.work();
      expect(await next.status()).toMatchObject({ behind: { keys: 0 }, tasks: [{ task: 'rekey', state: 'done' }] });
      expect((await next.status()).rootKeys.find(({ id }) => id === former)).toMatchObject({ wraps: 0 });
    });

    it('refuses to start while a rotation is running', async () => {
      const one = await filled();
      await rotateRootKey(one.context);
      const files = await readdir(directory);
      await expect(rotateRootKey(one.context)).rejects.toMatchObject({ reason: 'vault-busy' });
      expect(await readdir(directory)).toEqual(files);
    });

    it('refuses to create a key file while a server of another region is alive', async () => {
      const one = await filled();
      const files = await readdir(directory);
      const beside = { ...one.context, otherRegions: async () => ['eu-north'] };
      const message = expect.stringMatching(/eu-north.*BOTHOST_VAULT_KEYS.*docs\/operations\/vault-and-audit\.md/);
      await expect(rotateRootKey(beside)).rejects.toMatchObject({ reason: 'root-key-not-shared', message });
      expect(await readdir(directory)).toEqual(files);
      expect(await one.status()).toMatchObject({ behind: { keys: 0 }, tasks: [] });
    });

    it('lets another running server read secrets as soon as the new key file is copied to it', async () => {
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

    it('reports a key that does not unwrap, leaves it unchanged, and rewraps other keys', async () => {
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

  describe('rotateRootKey with keys from the settings', () => {
    const [former, next] = [randomBytes(32), randomBytes(32)];

    it('switches to the first key in the settings, after which the former key is not needed', async () => {
      const before = await filled({ keys: [former] });
      await expect(rotateRootKey(before.context)).rejects.toMatchObject({ reason: 'root-key-not-given' });
      await expect(server({ keys: [next] })).rejects.toThrow('Put that key back');
      const both = await server({ keys: [next, former] });
      expect(await all(both)).toEqual(expected);
      await rotateRootKey(both.context);
      await both.work();
      const after = await server({ keys: [next] });
      expect(await all(after)).toEqual(expected);
      expect((await after.status()).tasks).toMatchObject([{ task: 'rekey', state: 'done', findings: [] }]);
      await expect(server({ keys: [former] })).rejects.toThrow('Put that key back');
    });

    it('switches from a key file to a key from the settings', async () => {
      await filled();
      const both = await server({ keys: [next], folder: directory });
      await rotateRootKey(both.context);
      await both.work();
      expect(await all(await server({ keys: [next] }))).toEqual(expected);
    });
  });

  describe('rotateOrganizationKeys', () => {
    it('re-encrypts stored sets, and later writes use the new keys', async () => {
      const one = await filled();
      await rotateOrganizationKeys(one.context, null, { isDryRun: false });
      expect(await one.status()).toMatchObject({ behind: { keys: 0, sets: 2 } });
      expect(await all(one)).toEqual(expected);
      await one.work();
      await one.put(home, 'keys', { E: 'six' });
      expect(await one.status()).toMatchObject({ values: 5, behind: { keys: 0, sets: 0 } });
      expect(await all(one)).toEqual(expected);
      expect(await one.values(home, 'keys', 3)).toEqual({ A: 'three', B: 'two', E: 'six' });
      const { rows: versions } = await sql`select distinct key_version, fingerprint_version,
        substring(mac from 1 for 4) = int4send(2) as is_new_mac from secret_values join secret_revisions using (set_id)`.execute(
        rows.db,
      );
      expect(versions).toEqual([{ key_version: 2, fingerprint_version: 2, is_new_mac: true }]);
    });

    it('re-encrypts the keys of providers, and reports a damaged one', async () => {
      const { context, work, findings } = await filled();
      const store = (organizationId: string) =>
        storeProviderKey(
          context,
          { organizationId, provider: 'daily' },
          { account: 'example', details: { signsDialin: false }, connected_at: now(), value: Buffer.from('a key') },
        );
      await store(home);
      await store(other);
      await sql`update provider_keys set sealed = set_byte(sealed, 50, get_byte(sealed, 50) # 1)
        where organization_id = ${other}`.execute(rows.db);
      await rotateOrganizationKeys(context, null, { isDryRun: false });
      await work();
      const stored = rows.db.selectFrom('provider_keys').select('key_version').where('organization_id', '=', home);
      expect(await stored.executeTakeFirst()).toEqual({ key_version: 2 });
      expect(String(await findProviderKey(context, { organizationId: home, provider: 'daily' }))).toBe('a key');
      expect(await findings()).toEqual([
        {
          organization: 'other',
          set: null,
          problem: expect.stringMatching(/^the key of the provider daily: .*does not match/),
        },
      ]);
    });

    it('creates only one new version of each key if another server continues after a kill', async () => {
      const one = await filled();
      await rotateOrganizationKeys(one.context, null, { isDryRun: false });
      const [task] = await listTasks(rows.db, 'running');
      if (task === undefined) throw new Error('no task');
      const killed = { ...one.context, signal: AbortSignal.abort(new Error('killed')) };
      await expect(runTask(killed, task)).rejects.toThrow('killed');
      await (await server()).work();
      const { rows: versions } = await sql`select max(version) as newest, count(*)::int as keys from vault_keys
        group by organization_id, purpose`.execute(rows.db);
      expect(versions).toEqual(Array(6).fill({ newest: 2, keys: 2 }));
      expect(await one.status()).toMatchObject({ behind: { sets: 0 }, tasks: [{ task: 'rotate', state: 'done' }] });
      expect(await all(one)).toEqual(expected);
    });

    it('rotates the keys of one organization only', async () => {
      const one = await filled();
      await rotateOrganizationKeys(one.context, 'other', { isDryRun: false });
      expect(await one.status()).toMatchObject({ behind: { sets: 1 } });
      await one.work();
      expect(await one.status()).toMatchObject({ behind: { sets: 0 }, tasks: [{ done: 1, total: 1 }] });
      const { rows: rotated } = await sql`select distinct organization_id from vault_keys where version = 2`.execute(
        rows.db,
      );
      expect(rotated).toEqual([{ organization_id: other }]);
      await expect(rotateOrganizationKeys(one.context, 'nobody', { isDryRun: false })).rejects.toMatchObject({
        reason: 'organization-not-found',
      });
    });

    it.each([
      ['value', `update secret_values set sealed = set_byte(sealed, 50, get_byte(sealed, 50) # 1) where key = 'C'`],
      ['revision', `update secret_revisions set entries = '[]' where entries @> '[["C", 1]]'`],
    ])(
      'reports a secret set with a damaged %s, does not change this set, and re-encrypts the other sets',
      async (_, damage) => {
        const one = await filled();
        await sql.raw(damage).execute(rows.db);
        await rotateOrganizationKeys(one.context, null, { isDryRun: false });
        await one.work();
        expect(await one.findings()).toEqual([
          { organization: 'other', set: 'keys', problem: expect.stringContaining('does not match') },
        ]);
        expect(await one.status()).toMatchObject({ behind: { sets: 1 }, tasks: [{ state: 'done' }] });
        await expect(one.values(other, 'keys')).rejects.toThrow('damaged');
        expect(await one.values(home, 'keys')).toEqual(expected[0]);
      },
    );

    it('waits for the transaction that has locked a secret set, and re-encrypts the set', async () => {
      const one = await filled();
      await rotateOrganizationKeys(one.context, null, { isDryRun: false });
      const countLockWaits = async () =>
        (
          await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
            rows.db,
          )
        ).rows.length;
      const work = await rows.db.transaction().execute(async (db) => {
        await sql`select from secret_sets where organization_id = ${other} for update`.execute(db);
        const begun = one.work();
        await expect.poll(countLockWaits).toBe(1);
        return { begun };
      });
      await work.begun;
      expect(await one.status()).toMatchObject({ behind: { sets: 0 }, tasks: [{ state: 'done' }] });
    });

    it('makes another pass if a set uses former keys after the first one', async () => {
      const one = await filled();
      await rotateOrganizationKeys(one.context, null, { isDryRun: false });
      const scope = { organizationId: null, isDryRun: false };
      const rotateAgain = async () => {
        await one.context.keyring.rotate(rows.db, home);
      };
      expect(await reencryptSecrets(one.context, scope, rotateAgain)).toEqual({ isDone: false, findings: [] });
      await one.work();
      expect(await one.status()).toMatchObject({ behind: { sets: 0 }, tasks: [{ state: 'done' }] });
    });

    it('only verifies in a dry run', async () => {
      const one = await filled();
      const stored = () =>
        sql`select (select json_agg(k) from vault_keys k) as keys, (select json_agg(v) from secret_values v)
        as values`.execute(rows.db);
      const before = (await stored()).rows;
      await sql`delete from secret_deliveries where set_id in (select id from secret_sets where organization_id = ${other})`.execute(
        rows.db,
      );
      await rotateOrganizationKeys(one.context, null, { isDryRun: true });
      await one.work();
      expect((await stored()).rows).toEqual(before);
      expect(await one.status()).toMatchObject({ tasks: [{ task: 'verify', done: 2, total: 2 }] });
      expect(await one.findings()).toEqual([
        { organization: 'other', set: 'keys', problem: 'revision 1 has no delivery, so it never becomes ready' },
      ]);
    });
  });

  it('lets concurrent reads, writes and deliveries of secrets succeed', async () => {
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
      await rotateOrganizationKeys(one.context, null, { isDryRun: false });
      await one.work();
    }
    isOver = true;
    await Promise.all([writes, reads]);
    await rotateOrganizationKeys(one.context, null, { isDryRun: true });
    await one.work();
    expect(await one.findings()).toEqual([]);
    const { rows: states } = await sql`select distinct state from secret_deliveries
      where state <> 'pending'`.execute(rows.db);
    expect(states).toEqual([{ state: 'ready' }]);
    expect(written).toBeGreaterThan(2);
  });
});
