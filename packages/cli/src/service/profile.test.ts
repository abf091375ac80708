import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { profileFile } from '../../test/profile-file.ts';
import { readProfile, writeProfile } from './profile.ts';

let place: Awaited<ReturnType<typeof profileFile>>;
let warnings: string[];
const warn = (text: string) => void warnings.push(text);

beforeEach(async () => {
  place = await profileFile();
  warnings = [];
});
afterEach(() => place.remove());

async function write(text: string, mode = 0o600): Promise<void> {
  await mkdir(dirname(place.file), { recursive: true });
  await writeFile(place.file, text);
  await chmod(place.file, mode);
}

const modeOf = async (file: string) => (await stat(file)).mode & 0o777;

test('reads a missing file as an empty profile', async () => {
  expect(await readProfile(place.file, warn)).toEqual({
    api_url: null,
    organization: null,
    private_key: null,
    public_key: null,
  });
});

test('reads a written profile, whose mode is 0600', async () => {
  await writeProfile(place.file, { private_key: 'sk_a', organization: 'acme' });
  await writeProfile(place.file, { public_key: 'pk_"\n' });
  expect(await readProfile(place.file, warn)).toMatchObject({ private_key: 'sk_a', organization: 'acme' });
  expect(await readFile(place.file, 'utf8')).toContain('public_key = "pk_\\"\\n"');
  expect(await modeOf(place.file)).toBe(0o600);
  expect(await modeOf(dirname(place.file))).toBe(0o700);
  expect(await readdir(dirname(place.file))).toEqual(['config.toml']);
  expect(warnings).toEqual([]);
});

test('keeps unknown fields when it writes', async () => {
  await write('colour = "blue"\nprivate_key = "sk_a"\n[later]\nport = 7\n');
  await writeProfile(place.file, { private_key: null, api_url: 'http://a' });
  expect(await readFile(place.file, 'utf8')).toBe('colour = "blue"\napi_url = "http://a"\n\n[later]\nport = 7\n');
});

test('restricts the mode of a file that other users can read, with a warning', async () => {
  await write('private_key = "sk_a"\n', 0o644);
  expect((await readProfile(place.file, warn)).private_key).toBe('sk_a');
  expect(await modeOf(place.file)).toBe(0o600);
  expect(warnings).toEqual([
    `Other users could read ${place.file}, which contains keys. Its mode was changed to 0600.`,
  ]);
});

test('ignores the temporary file of a killed run', async () => {
  await write('organization = "acme"\n');
  await writeFile(`${place.file}.new`, 'private_key = "half', { mode: 0o644 });
  await writeProfile(place.file, { private_key: 'sk_b' });
  expect(await readFile(place.file, 'utf8')).toBe('organization = "acme"\nprivate_key = "sk_b"\n');
  expect(await readdir(dirname(place.file))).toEqual(['config.toml']);
  expect(await modeOf(place.file)).toBe(0o600);
});

test('keeps a profile that is a symbolic link', async () => {
  const real = join(dirname(dirname(place.file)), 'real.toml');
  await write('');
  await writeFile(real, 'organization = "acme"\n');
  await rm(place.file);
  await symlink(real, place.file);
  await writeProfile(place.file, { private_key: 'sk_a' });
  expect(await readFile(real, 'utf8')).toBe('organization = "acme"\nprivate_key = "sk_a"\n');
});

test('reports the line of an invalid profile without quoting or overwriting it', async () => {
  const broken = 'organization = "acme"\nprivate_key = "sk_secret\n';
  await write(broken);
  const reading = await readProfile(place.file, warn).catch((error: Error) => error);
  expect(reading).toMatchObject({ reason: 'profile-invalid', message: expect.stringContaining('(line 2)') });
  expect(String(reading)).not.toContain('sk_secret');
  await expect(writeProfile(place.file, { api_url: 'http://a' })).rejects.toMatchObject({ reason: 'profile-invalid' });
  expect(await readFile(place.file, 'utf8')).toBe(broken);
});

test('rejects a field of another type by its name', async () => {
  await write('api_url = 7\n');
  await expect(readProfile(place.file, warn)).rejects.toThrow('api_url must be a string in quotes');
});
