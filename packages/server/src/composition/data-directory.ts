import { hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { chmod, link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../operator-error.ts';
import { hasErrorCode } from '../store/error-code.ts';
import { withProcessLock } from '../store/process-lock.ts';

export type DataDirectory = {
  readonly path: string;
  /** Id that distinguishes this data directory from others that use the same database. */
  readonly id: string;
  readonly rootKey: Buffer;
};

/** Creates the directory with mode 0700, or 0711 if the service runs as root, so that the accounts of bots can enter. */
export async function createDataDirectory(path: string, isRoot: boolean): Promise<void> {
  const mode = isRoot ? 0o711 : 0o700;
  await mkdir(path, { recursive: true, mode });
  await chmod(path, mode);
}

/**
 * Opens the data directory and creates it if it does not exist. `rootKey` is the operator's key; without it, the key
 * file is used.
 *
 * @throws OperatorError if the key is damaged
 */
export async function openDataDirectory(
  path: string,
  isRoot: boolean,
  rootKey: string | undefined,
): Promise<DataDirectory> {
  await createDataDirectory(path, isRoot);
  const id = await readOrCreateFile(join(path, 'id'), 0o644, randomUUID);
  const key = rootKey ?? (await readOrCreateFile(join(path, 'key'), 0o600, () => randomBytes(32).toString('hex')));
  if (!/^[0-9a-f]{64}$/.test(key)) {
    throw new OperatorError(
      `The key file ${join(path, 'key')} is damaged. Restore it from a backup; the service never replaces it.`,
    );
  }
  return { path, id, rootKey: Buffer.from(key, 'hex') };
}

/** Time to wait for the previous server process to exit, in milliseconds. */
const claimMs = 3_000;

/**
 * Locks the data directory until `release` or the end of this process. Two servers in one data directory would treat
 * each other's bots as orphans, even with different databases.
 *
 * @throws StoreError if another server holds the lock
 */
export function lockDataDirectory(path: string): Promise<{ readonly release: () => Promise<void> }> {
  const refusal = `Another server uses the data directory ${path}. Stop it, or set BOTHOST_DATA_DIR to another one.`;
  return new Promise((resolve, reject) => {
    const claim = { directory: join(path, 'servers'), timeoutMs: claimMs, refusal };
    const held = withProcessLock(
      claim,
      () =>
        new Promise<void>((release) => {
          resolve({
            release: () => {
              release();
              return held;
            },
          });
        }),
    );
    held.catch(reject);
  });
}

/** Derives a key for one purpose with HKDF (RFC 5869). */
export function deriveKeyFromRootKey(
  rootKey: Buffer,
  purpose: 'socket-token' | 'control-token' | 'upload-token' | 'vault' | 'sign-in' | 'url-secret',
): Buffer {
  return Buffer.from(hkdfSync('sha256', rootKey, '', `bothost ${purpose}`, 32));
}

/** Reads a small file, or creates it atomically with the result of `make`. The first of concurrent writers wins. */
export async function readOrCreateFile(file: string, mode: number, make: () => string): Promise<string> {
  const existing = await readIfThere(file);
  if (existing !== null) return existing;
  const temporary = `${file}.${randomUUID()}`;
  await writeFile(temporary, `${make()}\n`, { mode, flag: 'wx', flush: true });
  try {
    await link(temporary, file);
  } catch (error) {
    if (!hasErrorCode(error, 'EEXIST')) throw error;
  } finally {
    await unlink(temporary);
  }
  return (await readIfThere(file)) ?? '';
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return null;
    throw error;
  }
}
