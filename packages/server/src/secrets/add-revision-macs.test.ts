import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { openDatabase } from '../store/database.ts';
import { migrate } from '../store/migrate.ts';
import { migrations } from '../store/migrations/all.ts';
import type { Database, Tables } from '../store/tables.ts';
import { addRevisionMacs } from './add-revision-macs.ts';
import { listSecrets } from './list.ts';
import { verifyVault } from './maintenance/verify.ts';
import { decryptForDeployment } from './pin.ts';
import { createKeyring } from './vault/keyring.ts';
import { openVault } from './vault/open-vault.ts';
import { createLocalRootKeys } from './vault/root-key.ts';

/**
 * Rows that a version of the service with migrations up to 0015 wrote: two secret sets, an image pull secret, and keys
 * of two versions.
 */
const before = new URL('../../test/support/secrets-before-0016.json', import.meta.url);
const rootKey = Buffer.alloc(32, 7);
const now = () => new Date('2026-11-21T12:00:00.000Z');
const silent = pino({ level: 'silent' });

describe('upgrade of secrets to migration 0016', () => {
  let db: Database;
  let home: string;
  let close: () => Promise<void>;

  beforeEach(async () => {
    const last = migrations.findIndex(({ name }) => name === '0015-build-cancellation');
    const { address, drop } = await createTestDatabase(migrations.slice(0, last + 1));
    db = await openDatabase<Tables>({ address, logger: silent });
    close = async () => {
      await db.destroy();
      await drop();
    };
    const tables: Record<string, readonly { id: string }[]> = JSON.parse(await readFile(before, 'utf8'));
    for (const [table, rows] of Object.entries(tables)) {
      const target = sql.table(table);
      await sql`insert into ${target} select * from json_populate_recordset(null::${target}, ${JSON.stringify(rows)})`.execute(
        db,
      );
    }
    home = tables['organizations']?.[0]?.id ?? '';
  });
  afterEach(() => close());

  /** Migrates the database and opens the vault, like the first start of the new version. */
  async function upgrade() {
    await migrate(db, migrations);
    const { keyring, rootKeys } = await openVault({ db, now, isAlone: true }, { keys: [rootKey] });
    await addRevisionMacs({ db, keyring });
    const context = { db, now, keyring, rootKeys, pinsOf: async () => [] };
    return {
      context,
      verify: () => verifyVault(context, null, async () => {}),
      list: () => listSecrets(context, { organizationId: home }, {}),
      variables: async (secretSet: string, revision: number) => {
        const set = db.selectFrom('secret_sets').select('id').where('name', '=', secretSet);
        const { id } = await set.executeTakeFirstOrThrow();
        const pins = [{ secretSet, setId: id, revision }];
        return decryptForDeployment(context, { organizationId: home, region: 'us-west', pins });
      },
    };
  }
  const countFormerMacs = async () =>
    (await db.selectFrom('secret_revisions').select('revision').where('former_mac', 'is not', null).execute()).length;

  it('leaves every secret readable', async () => {
    const { verify, list, variables } = await upgrade();
    expect(await variables('keys', 1)).toEqual({ A: 'one', B: 'two' });
    expect(await variables('keys', 2)).toEqual({ A: 'three', B: 'two' });
    expect(await variables('keys', 3)).toEqual({ A: 'one', B: 'two' });
    expect(await variables('keys', 4)).toEqual({ A: 'four', B: 'two' });
    expect(await variables('young', 1)).toEqual({ C: 'five' });
    expect(await list()).toMatchObject([
      { name: 'hub', host: 'ghcr.io', expiresAt: '2027-01-01T00:00:00.000Z', status: 'ready' },
      { name: 'keys', keyCount: 2, status: 'ready' },
      { name: 'young', keyCount: 1, status: 'ready' },
    ]);
    expect(await verify()).toEqual([]);
    expect(await countFormerMacs()).toBe(0);
  });

  it('continues at the next start of the server after a kill', async () => {
    await migrate(db, migrations);
    const { keyring } = await openVault({ db, now, isAlone: true }, { keys: [rootKey] });
    let calls = 0;
    const killed = {
      ...keyring,
      current: (...args: Parameters<typeof keyring.current>) => {
        calls += 1;
        return calls > 2 ? Promise.reject(new Error('killed')) : keyring.current(...args);
      },
    };
    await expect(addRevisionMacs({ db, keyring: killed }, 1)).rejects.toThrow('killed');
    expect(await countFormerMacs()).toBe(4);
    const { verify } = await upgrade();
    expect(await verify()).toEqual([]);
  });

  it.each([
    ['host', `update secret_revisions set host = 'evil.example' where host is not null`, 'hub'],
    ['expiry', `update secret_revisions set expires_at = expires_at + interval '1 day'`, 'hub'],
    ['list of keys', `update secret_revisions set entries = '[["A", 2], ["B", 1]]' where revision = 4`, 'keys'],
    ['former MAC', `update secret_revisions set stamp = '' where entries = '[["C", 1]]'`, 'young'],
  ])('reports a secret set as damaged if its %s was forged', async (_, forge, name) => {
    await sql.raw(forge).execute(db);
    await upgrade();
    const { list, verify } = await upgrade();
    expect((await list()).filter(({ damaged }) => damaged)).toMatchObject([{ name }]);
    expect(await verify()).toMatchObject([{ set: name, problem: expect.stringContaining('does not match its MAC') }]);
  });

  it('adds MACs only once the root key is available', async () => {
    await migrate(db, migrations);
    await addRevisionMacs({ db, keyring: createKeyring({ rootKeys: createLocalRootKeys([]), now }) });
    expect(await countFormerMacs()).toBe(6);
    expect(await (await upgrade()).verify()).toEqual([]);
  });
});
