import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { beforeEach, describe, expect, it } from 'vitest';
import { createTestDirectory } from '../../../runtime/test/test-directory.ts';
import { type CliProfile, writeCliProfile } from './profile.ts';

describe('the CLI profile', () => {
  let directory: string;
  let file: string;
  let other: string;
  const profile: CliProfile = {
    api_url: 'http://127.0.0.1:7420',
    organization: 'home',
    private_key: 'sk_1',
    public_key: 'pk_1',
  };

  beforeEach(async () => {
    directory = await createTestDirectory();
    file = join(directory, 'config', 'botcli', 'config.toml');
    other = join(directory, 'data', 'botcli.toml');
  });

  const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

  it('is written with mode 0600, and missing directories are created', async () => {
    expect(await writeCliProfile(file, other, profile)).toBe(file);
    expect(parse(await readFile(file, 'utf8'))).toEqual(profile);
    expect(await mode(file)).toBe('600');
    expect(await readdir(join(file, '..'))).toEqual(['config.toml']);
  });

  it('keeps other settings of a file with a byte-order mark', async () => {
    await writeCliProfile(file, other, profile);
    await writeFile(file, `\u{feff}${await readFile(file, 'utf8')}output = "json"\n`);
    expect(await writeCliProfile(file, other, profile)).toBe(file);
    expect(parse(await readFile(file, 'utf8'))).toEqual({ ...profile, output: 'json' });
  });

  it('gets new keys and keeps other settings if it already belongs to this service', async () => {
    await writeCliProfile(file, other, profile);
    await writeFile(file, `${await readFile(file, 'utf8')}output = "json"\n`);
    await writeCliProfile(file, other, { ...profile, private_key: 'sk_2' });
    expect(parse(await readFile(file, 'utf8'))).toEqual({ ...profile, private_key: 'sk_2', output: 'json' });
  });

  it('gets mode 0600 if it was readable by others', async () => {
    await writeCliProfile(file, other, profile);
    await rm(file);
    await writeFile(file, 'output = "json"\n', { mode: 0o644 });
    await writeCliProfile(file, other, profile);
    expect(await mode(file)).toBe('600');
  });

  it.each([
    ['belongs to another service', `api_url = "https://bots.example.com"\nprivate_key = "sk_theirs"\n`],
    ['belongs to the default service, which has no api_url', 'private_key = "sk_theirs"\n'],
    ['is not TOML', 'private_key = sk_theirs'],
  ])('stays unchanged, and the keys are written to another file, if the profile %s', async (_, text) => {
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(file, text);
    expect(await writeCliProfile(file, other, profile)).toBe(other);
    expect(await readFile(file, 'utf8')).toBe(text);
    expect(parse(await readFile(other, 'utf8'))).toEqual(profile);
    expect(await mode(other)).toBe('600');
  });

  it('remains unchanged if writing fails', async () => {
    await writeCliProfile(file, other, profile);
    const before = await readFile(file, 'utf8');
    await expect(writeCliProfile(join(file, 'below-a-file'), other, profile)).rejects.toThrow();
    expect(await readFile(file, 'utf8')).toBe(before);
  });
});
