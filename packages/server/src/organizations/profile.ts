import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parse, stringify } from 'smol-toml';
import { hasErrorCode } from '../store/error-code.ts';

/** The fields that this service writes into the configuration file of botcli, the CLI profile. */
export type CliProfile = {
  readonly api_url: string;
  readonly organization: string;
  readonly private_key: string;
  readonly public_key: string;
};

/**
 * Writes the CLI profile with mode 0600, through a temporary file and a rename. If `file` contains keys of another service,
 * writes `otherFile` instead, because `file` may be the only copy of these keys. Copies an earlier profile for the same address
 * to `.bak`. Returns the path of the written file.
 */
export async function writeCliProfile(file: string, otherFile: string, profile: CliProfile): Promise<string> {
  const existing = await readProfile(file);
  const foreign =
    existing !== null && typeof existing['private_key'] === 'string' && existing['api_url'] !== profile.api_url;
  const target = foreign ? otherFile : file;
  const kept = foreign ? {} : (existing ?? {});
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const temporary = `${target}.${randomUUID()}`;
  const handle = await open(temporary, 'wx', 0o600);
  try {
    await handle.writeFile(stringify({ ...kept, ...profile }));
    await handle.sync();
  } finally {
    await handle.close();
  }
  // Keep the old CLI profile as a `.bak` file. It may contain the only copy of the keys for a service that ran at the same
  // address with another data directory.
  if (existing !== null && !foreign && existing['private_key'] !== undefined) await rename(target, `${target}.bak`);
  await rename(temporary, target);
  return target;
}

/**
 * Reads the CLI profile. Null if the file is missing. A file that is not TOML counts as the profile of another service.
 */
async function readProfile(file: string): Promise<Record<string, unknown> | null> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return null;
    throw error;
  }
  try {
    return parse(text);
  } catch {
    return { private_key: 'unreadable' };
  }
}
