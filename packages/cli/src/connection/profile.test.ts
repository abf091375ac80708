import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createProfilePath } from '../../test/profile-file.ts';
import { readProfile, writeProfile } from './profile.ts';

let profilePath: Awaited<ReturnType<typeof createProfilePath>>;
let warnings: string[];
const warn = (text: string) => void warnings.push(text);

beforeEach(async () => {
  profilePath = await createProfilePath();
  warnings = [];
});
afterEach(() => profilePath.remove());

async function write(text: string, mode = 0o600): Promise<void> {
  await mkdir(dirname(profilePath.file), { recursive: true });
  await writeFile(profilePath.file, text);
  await chmod(profilePath.file, mode);
}

const readMode = async (file: string) => (await stat(file)).mode & 0o777;

test('reads a missing file as an empty profile', async () => {
  expect(await readProfile(profilePath.file, warn)).toEqual({
    api_url: null,
    organization: null,
    private_key: null,
    public_key: null,
  });
});

test('writes a profile with mode 0600 and reads it again', async () => {
  await writeProfile(profilePath.file, { private_key: 'sk_a', organization: 'acme' });
  await writeProfile(profilePath.file, { public_key: 'pk_"\n' });
  expect(await readProfile(profilePath.file, warn)).toMatchObject({ private_key: 'sk_a', organization: 'acme' });
  expect(await readFile(profilePath.file, 'utf8')).toContain('public_key = "pk_\\"\\n"');
  expect(await readMode(profilePath.file)).toBe(0o600);
  expect(await readMode(dirname(profilePath.file))).toBe(0o700);
  expect(await readdir(dirname(profilePath.file))).toEqual(['config.toml']);
  expect(warnings).toEqual([]);
});

test('reads a profile with a byte-order mark', async () => {
  await write('\u{feff}private_key = "sk_a"\n');
  expect(await readProfile(profilePath.file, warn)).toMatchObject({ private_key: 'sk_a' });
});

test('keeps unknown fields of a profile when it changes other fields', async () => {
  await write('colour = "blue"\nprivate_key = "sk_a"\n[later]\nport = 7\n');
  await writeProfile(profilePath.file, { private_key: null, api_url: 'http://a' });
  expect(await readFile(profilePath.file, 'utf8')).toBe('colour = "blue"\napi_url = "http://a"\n\n[later]\nport = 7\n');
});

test('warns about a profile that other users can read, and changes its mode to 0600', async () => {
  await write('private_key = "sk_a"\n', 0o644);
  expect((await readProfile(profilePath.file, warn)).private_key).toBe('sk_a');
  expect(await readMode(profilePath.file)).toBe(0o600);
  expect(warnings).toEqual([
    `Other users could read ${profilePath.file}, which contains keys. Its mode was changed to 0600.`,
  ]);
});

test('replaces the temporary file that a killed run left behind', async () => {
  await write('organization = "acme"\n');
  await writeFile(`${profilePath.file}.new`, 'private_key = "half', { mode: 0o644 });
  await writeProfile(profilePath.file, { private_key: 'sk_b' });
  expect(await readFile(profilePath.file, 'utf8')).toBe('organization = "acme"\nprivate_key = "sk_b"\n');
  expect(await readdir(dirname(profilePath.file))).toEqual(['config.toml']);
  expect(await readMode(profilePath.file)).toBe(0o600);
});

test('writes to the target of a profile that is a symbolic link', async () => {
  const real = join(dirname(dirname(profilePath.file)), 'real.toml');
  await write('');
  await writeFile(real, 'organization = "acme"\n');
  await rm(profilePath.file);
  await symlink(real, profilePath.file);
  await writeProfile(profilePath.file, { private_key: 'sk_a' });
  expect(await readFile(real, 'utf8')).toBe('organization = "acme"\nprivate_key = "sk_a"\n');
});

test('reports the number of the invalid line in a profile, without quoting the line or changing the file', async () => {
  const broken = 'organization = "acme"\nprivate_key = "sk_secret\n';
  await write(broken);
  const reading = await readProfile(profilePath.file, warn).catch((error: Error) => error);
  expect(reading).toMatchObject({ reason: 'profile-invalid', message: expect.stringContaining('(line 2)') });
  expect(String(reading)).not.toContain('sk_secret');
  await expect(writeProfile(profilePath.file, { api_url: 'http://a' })).rejects.toMatchObject({
    reason: 'profile-invalid',
  });
  expect(await readFile(profilePath.file, 'utf8')).toBe(broken);
});

test('rejects a profile with a field that is not a string, and names the field', async () => {
  await write('api_url = 7\n');
  await expect(readProfile(profilePath.file, warn)).rejects.toThrow('api_url must be a string in quotes');
});

test('readProfile sets a system error as the cause of its failure, but not a parser error that quotes the profile', async () => {
  await mkdir(profilePath.file, { recursive: true });
  await expect(readProfile(profilePath.file, warn)).rejects.toMatchObject({ cause: { code: 'EISDIR' } });
  await rm(profilePath.file, { recursive: true });
  await write('private_key = sk_secret\n');
  const invalid = await readProfile(profilePath.file, warn).catch((error: unknown) => error);
  expect(invalid).toMatchObject({ reason: 'profile-invalid' });
  expect(invalid).not.toHaveProperty('cause');
});
