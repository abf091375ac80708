import { hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { chmod, link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../operator-error.ts';
import { withProcessLock } from '../store/process-lock.ts';

export type DataDirectory = {
  readonly path: string;
  /** Identifies this data directory among all data directories that use the same database. */
  readonly id: string;
  readonly rootKey: Buffer;
};

/** Creates the data directory if necessary: mode 0711 for root, because bots with their own accounts must pass through, else 0700. */
export async function createDataDirectory(path: string, isRoot: boolean): Promise<void> {
  const mode = isRoot ? 0o711 : 0o700;
  await mkdir(path, { recursive: true, mode });
  await chmod(path, mode);
}

/**
 * Opens the data directory and creates it if necessary. `rootKey`: the operator's key, if set; otherwise the key file is used.
 *
 * @throws OperatorError if the key is damaged
 */
export async function openDataDirectory(
  path: string,
  isRoot: boolean,
  rootKey: string | undefined,
): Promise<DataDirectory> {
  await createDataDirectory(path, isRoot);
  const id = await keepOnce(join(path, 'id'), 0o644, randomUUID);
  const key = rootKey ?? (await keepOnce(join(path, 'key'), 0o600, () => randomBytes(32).toString('hex')));
  if (!/^[0-9a-f]{64}$/.test(key)) {
    throw new OperatorError(
      `The key file ${join(path, 'key')} is damaged; put the right one back. The service never creates another.`,
    );
  }
  return { path, id, rootKey: Buffer.from(key, 'hex') };
}

/** Time to wait for the previous server to exit. */
const claimMilliseconds = 3_000;

/**
 * Locks the data directory for this process, until the release or its end. Two servers in one directory would treat each
 * other's bots as orphans, even with different databases.
 *
 * @throws StoreError when another server has it
 */
export function claimDataDirectory(path: string): Promise<{ readonly release: () => Promise<void> }> {
  const refusal = `Another server uses the data directory ${path}. Stop it, or set BOTHOST_DATA_DIR to another one.`;
  return new Promise((resolve, reject) => {
    const claim = { directory: join(path, 'servers'), timeoutMs: claimMilliseconds, refusal };
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
export function deriveKey(
  rootKey: Buffer,
  purpose: 'socket-token' | 'control-token' | 'upload-token' | 'vault',
): Buffer {
  return Buffer.from(hkdfSync('sha256', rootKey, '', `bothost ${purpose}`, 32));
}

/** Reads a small file, or creates it atomically. Concurrent callers all get the content of the first writer. */
export async function keepOnce(file: string, mode: number, make: () => string): Promise<string> {
  const existing = await readIfThere(file);
  if (existing !== null) return existing;
  const temporary = `${file}.${randomUUID()}`;
  await writeFile(temporary, `${make()}\n`, { mode, flag: 'wx', flush: true });
  try {
    await link(temporary, file);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await unlink(temporary);
  }
  return (await readIfThere(file)) ?? '';
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
