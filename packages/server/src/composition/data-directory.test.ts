import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createTestDirectory } from '../../../runtime/test/test-directory.ts';
import { deriveKeyFromRootKey, openDataDirectory } from './data-directory.ts';

describe('the data directory', () => {
  let parent: string;
  let path: string;
  beforeEach(async () => {
    parent = await createTestDirectory();
    path = join(parent, 'below', 'data');
  });

  const mode = async (file: string) => ((await stat(file)).mode & 0o777).toString(8);
  const files = async () => (await readdir(path)).sort();

  it.each([
    ['711', 'root', true],
    ['700', 'an ordinary user', false],
  ])(
    'has the mode 0%s if the service runs as %s, even if the directory already exists',
    async (expected, _, isRoot) => {
      await openDataDirectory(path, isRoot, undefined);
      expect(await mode(path)).toBe(expected);
      await chmod(path, 0o755);
      await openDataDirectory(path, isRoot, undefined);
      expect(await mode(path)).toBe(expected);
    },
  );

  it('keeps its id and key when it is opened again, and only its owner can read the key', async () => {
    const first = await openDataDirectory(path, false, undefined);
    expect(await files()).toEqual(['id', 'key']);
    expect(await mode(join(path, 'key'))).toBe('600');
    expect(first.rootKey).toHaveLength(32);
    expect(await openDataDirectory(path, false, undefined)).toEqual(first);
  });

  it('has its own id and key, different from those of another data directory', async () => {
    const [one, other] = [
      await openDataDirectory(path, false, undefined),
      await openDataDirectory(join(parent, 'other'), false, undefined),
    ];
    expect(one.id).not.toBe(other.id);
    expect(one.rootKey.equals(other.rootKey)).toBe(false);
  });

  it('has the same id and key for all processes that open it concurrently', async () => {
    const opened = await Promise.all(Array.from({ length: 8 }, () => openDataDirectory(path, false, undefined)));
    for (const one of opened) expect(one).toEqual(opened[0]);
    expect(await files()).toEqual(['id', 'key']);
  });

  it("uses the operator's key, if one is given, and then writes no key file", async () => {
    const { rootKey } = await openDataDirectory(path, false, 'ab'.repeat(32));
    expect(rootKey.toString('hex')).toBe('ab'.repeat(32));
    expect(await files()).toEqual(['id']);
  });

  it.each(['', 'x!', 'ab'.repeat(31), 'AB'.repeat(32)])(
    'is rejected if its key file contains %j instead of a key, and the file stays unchanged',
    async (text) => {
      await mkdir(path, { recursive: true });
      await writeFile(join(path, 'key'), text, { mode: 0o600 });
      const refusal = await openDataDirectory(path, false, undefined).catch(String);
      expect(refusal).toContain(`The key file ${join(path, 'key')} is damaged`);
      if (text !== '') expect(refusal).not.toContain(text);
      expect(await readFile(join(path, 'key'), 'utf8')).toBe(text);
    },
  );

  it('is rejected if its path is a file', async () => {
    await writeFile(join(parent, 'below'), '');
    await expect(openDataDirectory(path, false, undefined)).rejects.toThrow();
  });
});

it('deriveKeyFromRootKey derives a stable key per purpose and root key', () => {
  const [root, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const keys = [
    deriveKeyFromRootKey(root, 'socket-token'),
    deriveKeyFromRootKey(root, 'control-token'),
    deriveKeyFromRootKey(other, 'socket-token'),
  ];
  expect(deriveKeyFromRootKey(root, 'socket-token')).toEqual(keys[0]);
  expect(new Set([...keys, root].map((key) => key.toString('hex'))).size).toBe(4);
});
