import { chmod, mkdtemp, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabaseRows, type TestDatabaseRows, testNow } from '../../../test/support/test-rows.ts';
import { openVault, planVaultOpening } from './open-vault.ts';

describe('planVaultOpening', () => {
  it.each([
    ['create', 'no root key and no secrets', [], null, [], false],
    ['use', 'a root key and no secrets', ['a'], null, [], false],
    ['refuse', 'secrets without a root key', [], 'a', ['a'], true],
    ['use', 'the root key of the secrets', ['a'], 'a', ['a'], true],
    ['refuse', 'a root key that does not belong to the secrets', ['b'], 'a', ['a'], true],
    ['refuse', 'only one of two needed root keys', ['a'], 'a', ['a', 'b'], true],
    ['refuse', 'wrapped keys without a state', [], null, ['a'], false],
    ['refuse', 'secrets without keys, state and root key', [], null, [], true],
    ['use', 'a root key, and secrets without keys and state', ['a'], null, [], true],
  ] as const)('returns the plan "%s" for %s', (kind, _case, available, current, needed, hasStoredSecrets) => {
    expect(planVaultOpening(available, { current, needed, hasStoredSecrets }).kind).toBe(kind);
  });
});

describe('openVault with key files', () => {
  let rows: TestDatabaseRows;
  let folder: string;

  beforeEach(async () => {
    rows = await createTestDatabaseRows();
    folder = join(await mkdtemp(join(tmpdir(), 'vault-')), 'keys');
  });
  afterEach(async () => {
    await rows.close();
    await rm(join(folder, '..'), { recursive: true });
  });

  const open = (isAlone = true) => openVault({ db: rows.db, now: () => testNow, isAlone }, { folder });
  const only = async () => {
    const [name = '', ...more] = await readdir(folder);
    expect(more).toEqual([]);
    return join(folder, name);
  };

  it('creates only one key file, with mode 0600', async () => {
    const { keyIds } = await (await open()).rootKeys.status();
    const file = await only();
    const { mode, size } = await stat(file);
    expect([mode & 0o777, size, (await stat(folder)).mode & 0o777]).toEqual([0o600, 32, 0o700]);
    expect((await (await open()).rootKeys.status()).keyIds).toEqual(keyIds);
    expect(await only()).toBe(file);
  });

  it('replaces a lost key file if nothing is encrypted and no other server is alive', async () => {
    await open();
    await rename(await only(), `${folder}-away`);
    await expect(open(false)).rejects.toThrow('Put that key back');
    expect(await readdir(folder)).toEqual([]);
    await open();
    await open();
    await only();
  });

  it('does not replace a lost key file while a secret set exists, even if the database has no organization keys and no vault state', async () => {
    await open();
    await sql`insert into secret_sets values
      (gen_random_uuid(), ${await rows.organization()}, 'left', 'secret', 'us-west', 1, now(), now())
    `.execute(rows.db);
    await rename(await only(), `${folder}-away`);
    await expect(open()).rejects.toThrow('Put that key back');
    await sql`delete from vault_state`.execute(rows.db);
    await expect(open()).rejects.toThrow('Restore these tables and the key files from the same backup');
    expect(await readdir(folder)).toEqual([]);
  });

  it('does not replace a lost key file while organization keys exist', async () => {
    const { keyring } = await open();
    await keyring.ensure(rows.db, await rows.organization());
    const file = await only();
    await rename(file, `${folder}-away`);
    const refused = `Put that key back; the service never creates another one in its place. Key files belong in ${folder}`;
    await expect(open()).rejects.toThrow(refused);
    expect(await readdir(folder)).toEqual([]);
    await rename(`${folder}-away`, file);
    await open();
  });

  it('refuses to open if the canary does not decrypt', async () => {
    await open();
    await sql`update vault_state set canary = set_byte(canary, 20, get_byte(canary, 20) # 1)`.execute(rows.db);
    await expect(open()).rejects.toThrow('does not decrypt what was encrypted with it');
    await sql`update vault_state set canary = set_byte(canary, 20, get_byte(canary, 20) # 1)`.execute(rows.db);
    await open();
  });

  it('refuses a key file that is readable by others, a symbolic link, or damaged', async () => {
    await open();
    const file = await only();
    await chmod(file, 0o640);
    await expect(open()).rejects.toThrow('chmod 600');
    await chmod(file, 0o600);
    await rename(file, `${folder}-away`);
    await symlink(`${folder}-away`, file);
    await expect(open()).rejects.toThrow('regular file');
    await rm(file);
    await writeFile(file, Buffer.alloc(32), { mode: 0o600 });
    await expect(open()).rejects.toThrow('damaged');
    await writeFile(file, Buffer.alloc(31));
    await expect(open()).rejects.toThrow('damaged');
  });

  it('refuses a file that is not a key file, and keeps it', async () => {
    await open();
    await writeFile(join(folder, 'README'), 'keep these', { mode: 0o600 });
    await expect(open()).rejects.toThrow(`${join(folder, 'README')} is not a key file`);
    expect(await readdir(folder)).toContain('README');
  });

  it('deletes the temporary file of a killed server', async () => {
    await open();
    await writeFile(join(folder, 'half.new'), 'half', { mode: 0o600 });
    await open();
    await only();
  });
});
