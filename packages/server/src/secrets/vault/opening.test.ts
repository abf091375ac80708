import { chmod, mkdtemp, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TestRows, testNow, testRows } from '../../../test/support/test-rows.ts';
import { openVault, planOpening } from './open-vault.ts';

describe('at a start', () => {
  it.each([
    ['nothing at hand, nothing sealed', [], null, [], false, 'create'],
    ['a key, nothing sealed', ['a'], null, [], false, 'use'],
    ['nothing at hand, something sealed', [], 'a', ['a'], true, 'refuse'],
    ['the key, something sealed', ['a'], 'a', ['a'], true, 'use'],
    ['another key, something sealed', ['b'], 'a', ['a'], true, 'refuse'],
    ['one of two keys that are needed', ['a'], 'a', ['a', 'b'], true, 'refuse'],
    ['sealed keys, and their state lost', [], null, ['a'], false, 'refuse'],
    ['secrets, and all that tells of their keys lost', [], null, [], true, 'refuse'],
    ['a key, secrets, and all that tells of their keys lost', ['a'], null, [], true, 'use'],
  ] as const)('%s: %s', (_, atHand, wraps, needed, sealed, kind) => {
    expect(planOpening(atHand, { wraps, needed, sealed }).kind).toBe(kind);
  });
});

describe('the vault with key files', () => {
  let rows: TestRows;
  let folder: string;

  beforeEach(async () => {
    rows = await testRows();
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

  it('makes one file that nobody else can read, once', async () => {
    const { keyIds } = await (await open()).rootKeys.status();
    const file = await only();
    const { mode, size } = await stat(file);
    expect([mode & 0o777, size, (await stat(folder)).mode & 0o777]).toEqual([0o600, 32, 0o700]);
    expect((await (await open()).rootKeys.status()).keyIds).toEqual(keyIds);
    expect(await only()).toBe(file);
  });

  it('makes another one in its place while nothing is sealed and no other server may have it', async () => {
    await open();
    await rename(await only(), `${folder}-away`);
    await expect(open(false)).rejects.toThrow('Put that key back');
    expect(await readdir(folder)).toEqual([]);
    await open();
    await open();
    await only();
  });

  it('never makes another one in its place while a set is there, though the keys of its organization are lost', async () => {
    await open();
    await sql`insert into secret_sets values
      (gen_random_uuid(), ${await rows.organization()}, 'left', 'secret', 'us-west', null, 1, '{1}', '', now(), now())
    `.execute(rows.db);
    await rename(await only(), `${folder}-away`);
    await expect(open()).rejects.toThrow('Put that key back');
    expect(await readdir(folder)).toEqual([]);
  });

  it('makes none where a set is there, though nothing tells any more what it was sealed with', async () => {
    await open();
    await sql`insert into secret_sets values
      (gen_random_uuid(), ${await rows.organization()}, 'left', 'secret', 'us-west', null, 1, '{1}', '', now(), now())
    `.execute(rows.db);
    await sql`delete from vault_state`.execute(rows.db);
    await rename(await only(), `${folder}-away`);
    await expect(open()).rejects.toThrow('Restore the whole database and the key files of that time');
    expect(await readdir(folder)).toEqual([]);
  });

  it('never makes another one in its place when anything is sealed', async () => {
    const { keyring } = await open();
    await keyring.require(rows.db, await rows.organization());
    const file = await only();
    await rename(file, `${folder}-away`);
    const refused = `Put that key back; another one is never made in its place. Key files belong in ${folder}, each named`;
    await expect(open()).rejects.toThrow(refused);
    expect(await readdir(folder)).toEqual([]);
    await rename(`${folder}-away`, file);
    await open();
  });

  it('refuses a key that does not open what the database says was sealed with it', async () => {
    await open();
    await sql`update vault_state set canary = set_byte(canary, 20, get_byte(canary, 20) # 1)`.execute(rows.db);
    await expect(open()).rejects.toThrow('does not open what was sealed with it');
    await sql`update vault_state set canary = set_byte(canary, 20, get_byte(canary, 20) # 1)`.execute(rows.db);
    await open();
  });

  it('refuses a file that others can read, a link, and one of other content', async () => {
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

  it('says of a file that is no key that it belongs elsewhere, and leaves it there', async () => {
    await open();
    await writeFile(join(folder, 'README'), 'keep these', { mode: 0o600 });
    await expect(open()).rejects.toThrow(`${join(folder, 'README')} is not a key file`);
    expect(await readdir(folder)).toContain('README');
  });

  it('forgets what a server that died while it made a key left behind', async () => {
    await open();
    await writeFile(join(folder, 'half.new'), 'half', { mode: 0o600 });
    await open();
    await only();
  });
});
