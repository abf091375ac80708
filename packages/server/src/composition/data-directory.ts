import { hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { chmod, link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../operator-error.ts';
import { withProcessLock } from '../store/process-lock.ts';

export type DataDirectory = {
  readonly path: string;
  /** Names this data directory among all that use one database. */
  readonly id: string;
  readonly rootKey: Buffer;
};

/**
 * The data directory, made if it is not there: 0711 for root, since bots have accounts of their own and must pass through,
 * 0700 otherwise (decisions, "settings"). `rootKey` is the operator's own; without it the key file counts.
 *
 * @throws OperatorError when the key is damaged
 */
export async function openDataDirectory(
  path: string,
  isRoot: boolean,
  rootKey: string | undefined,
): Promise<DataDirectory> {
  const mode = isRoot ? 0o711 : 0o700;
  await mkdir(path, { recursive: true, mode });
  await chmod(path, mode);
  const id = await keepOnce(join(path, 'id'), 0o644, randomUUID);
  const key = rootKey ?? (await keepOnce(join(path, 'key'), 0o600, () => randomBytes(32).toString('hex')));
  if (!/^[0-9a-f]{64}$/.test(key)) {
    throw new OperatorError(
      `The key file ${join(path, 'key')} is damaged; put the right one back. The service never creates another.`,
    );
  }
  return { path, id, rootKey: Buffer.from(key, 'hex') };
}

/** How long the server before this one may take to be gone. */
const claimMilliseconds = 3_000;

/**
 * Takes the data directory for this process, until the release or its death. Two servers in one would take each other's
 * bots for strays, also when their databases differ.
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

/** A key for one purpose, so that none is used for two (RFC 5869). */
export function deriveKey(
  rootKey: Buffer,
  purpose: 'socket-token' | 'control-token' | 'upload-token' | 'vault',
): Buffer {
  return Buffer.from(hkdfSync('sha256', rootKey, '', `bothost ${purpose}`, 32));
}

/** Reads a small file, or writes it whole in one step: of two at once, the first to write wins and both read the same. */
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
