import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parse, stringify } from 'smol-toml';

/** What the command line needs to know of a service (decisions, "first start"). */
export type Profile = {
  readonly api_url: string;
  readonly organization: string;
  readonly private_key: string;
  readonly public_key: string;
};

/**
 * Writes the command line's profile, mode 0600, by temporary file and rename. A profile with the keys of another service
 * stays: its keys are nowhere else. Then it goes to `otherFile`. One of the same address is kept beside it as `.bak`. Returns where it was written.
 */
export async function writeProfile(file: string, otherFile: string, profile: Profile): Promise<string> {
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
  // Another data directory of this address may still need its keys: the old file stays beside the new one.
  if (existing !== null && !foreign && existing['private_key'] !== undefined) await rename(target, `${target}.bak`);
  await rename(temporary, target);
  return target;
}

/** Null: there is none. One that is not TOML counts as another service's, so that nothing in it is lost. */
async function readProfile(file: string): Promise<Record<string, unknown> | null> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
  try {
    return parse(text);
  } catch {
    return { private_key: 'unreadable' };
  }
}
