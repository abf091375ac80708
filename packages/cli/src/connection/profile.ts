import { chmod, mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { TomlTable } from 'smol-toml';
import { Failure, getSystemErrorCode } from '../failure.ts';

const fields = ['api_url', 'organization', 'private_key', 'public_key'] as const;
type Field = (typeof fields)[number];

/** The fields of a profile file. A field is null if it is missing or the file does not exist. */
export type Profile = Readonly<Record<Field, string | null>>;

export const emptyProfile: Profile = { api_url: null, organization: null, private_key: null, public_key: null };

/**
 * Reads the profile. The file contains keys: if other users can read it, removes their access and prints a warning. Throws a
 * `Failure` if the file is not valid TOML, or if a field is not a string.
 */
export async function readProfile(file: string, warn: (text: string) => void): Promise<Profile> {
  const table = (await readTable(file)) ?? {};
  await restrictMode(file, warn);
  const value = (field: Field) => {
    const entry = table[field];
    if (entry !== undefined && typeof entry !== 'string') {
      throw new Failure('profile-invalid', `${file}: ${field} must be a string in quotes.`);
    }
    return entry?.trim() || null;
  };
  return {
    api_url: value('api_url'),
    organization: value('organization'),
    private_key: value('private_key'),
    public_key: value('public_key'),
  };
}

/** Changes fields (null removes one) and keeps all others. Replaces the file atomically and follows a symbolic link. */
export async function writeProfile(file: string, changes: Partial<Profile>): Promise<void> {
  const table: TomlTable = { ...(await readTable(file)) };
  for (const field of fields) {
    const value = changes[field];
    if (value === null) delete table[field];
    else if (value !== undefined) table[field] = value;
  }
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const target = await realpath(file).catch(() => file);
    const { stringify } = await import('smol-toml');
    await replaceFile(target, `${stringify(table).trimEnd()}\n`);
  } catch (error) {
    throw new Failure('profile-unwritable', `Cannot write the profile ${file}: ${describeSystemError(error)}.`, null, {
      cause: error,
    });
  }
}

async function replaceFile(target: string, text: string): Promise<void> {
  const temporary = `${target}.new`;
  // Remove the temporary file of a run that was killed.
  await rm(temporary, { force: true });
  const handle = await open(temporary, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, target);
}

async function readTable(file: string): Promise<TomlTable | null> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (getSystemErrorCode(error) === 'ENOENT') return null;
    throw new Failure('profile-unreadable', `Cannot read the profile ${file}: ${describeSystemError(error)}.`, null, {
      cause: error,
    });
  }
  const { parse, TomlError } = await import('smol-toml');
  try {
    return parse(text);
  } catch (error) {
    // Include neither the parser's message nor the error: both quote the invalid line, which may contain a key.
    const location = error instanceof TomlError ? `line ${error.line}` : 'unknown line';
    throw new Failure(
      'profile-invalid',
      `The profile ${file} is not valid TOML (${location}).`,
      'Repair or remove the profile.',
    );
  }
}

async function restrictMode(file: string, warn: (text: string) => void): Promise<void> {
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077) === 0 || process.platform === 'win32') return;
    await chmod(file, 0o600);
    warn(`Other users could read ${file}, which contains keys. Its mode was changed to 0600.`);
  } catch (error) {
    if (getSystemErrorCode(error) !== 'ENOENT')
      warn(
        `Other users can read ${file}, which contains keys, and its mode cannot be changed: ${describeSystemError(error)}.`,
      );
  }
}

function describeSystemError(error: unknown): string {
  return getSystemErrorCode(error) ?? (error instanceof Error ? error.message : String(error));
}
