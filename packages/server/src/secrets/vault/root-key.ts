import { createHash, randomBytes } from 'node:crypto';
import { decrypt, encrypt } from './aes-gcm.ts';
import { DamagedDataError } from './damaged-data-error.ts';
import { encodeValueList } from './encode.ts';

/**
 * Holds the root keys, and wraps the keys of organizations with them. All functions are asynchronous, so that another
 * implementation can use a key service that never reveals a root key. The id of a key is never reused for another key.
 */
export type RootKeyProvider = {
  /**
   * Returns the ids of the available keys, the preferred one for wrapping first. Which key is current is stored in the database.
   */
  readonly status: () => Promise<{ readonly ok: boolean; readonly keyIds: readonly string[] }>;
  /** Returns whether a root key is available, including one that was added since the start. */
  readonly has: (keyId: string) => Promise<boolean>;
  /**
   * Wraps a key with the root key `keyId`. Unwrapping requires the same `context`.
   *
   * @throws RootKeyMissingError if the root key is not available
   */
  readonly wrap: (key: Buffer, keyId: string, context: Buffer) => Promise<Buffer>;
  /**
   * Unwraps `wrapped` with the root key `keyId`.
   *
   * @throws DamagedDataError if `wrapped` was changed, or was created with another root key or another `context`;
   * RootKeyMissingError if the root key is not available
   */
  readonly unwrap: (wrapped: Buffer, keyId: string, context: Buffer) => Promise<Buffer>;
  /** Creates a root key and returns its id. The function is null if the operator supplies root keys. */
  readonly create: (() => Promise<string>) | null;
};

/** Thrown if a root key is not available at the moment. The stored data is not damaged. */
export class RootKeyMissingError extends Error {
  override readonly name = 'RootKeyMissingError';
}

/** The id of a root key is the first 16 hexadecimal digits of a hash of the key, and reveals nothing about the key. */
export function computeRootKeyId(key: Buffer): string {
  return createHash('sha256').update('bothost root key id').update(key).digest('hex').slice(0, 16);
}

/** Root keys on disk. `find` and `create` return only keys that have been flushed to disk. */
export type RootKeyFiles = {
  readonly find: (keyId: string) => Promise<Buffer | null>;
  /** Creates a key file. The function is null if the operator supplies root keys. */
  readonly create: (() => Promise<Buffer>) | null;
};

/**
 * Provides root keys of 32 bytes. `keys` are held in memory, the preferred key first. A key that is not in memory is searched
 * for among the key files on disk (`files`), which may have been added later.
 */
export function createLocalRootKeys(keys: readonly Buffer[], files: RootKeyFiles | null = null): RootKeyProvider {
  const byId = new Map(keys.map((key) => [computeRootKeyId(key), key]));
  const create = files?.create ?? null;

  async function rootKey(id: string): Promise<Buffer> {
    const known = byId.get(id);
    if (known !== undefined) return known;
    // Search the key files for this id. So a key file that was copied here after a rotation on another server is found without a
    // restart.
    const found = await find(id);
    byId.set(id, found);
    return found;
  }

  async function find(id: string): Promise<Buffer> {
    let cause: unknown;
    try {
      const found = await files?.find(id);
      if (found) return found;
    } catch (error) {
      cause = error;
    }
    throw new RootKeyMissingError(`The root key ${id} is not available.`, { cause });
  }

  return {
    status: async () => ({ ok: true, keyIds: [...byId.keys()] }),
    has: async (id) => {
      try {
        return (await rootKey(id)).length > 0;
      } catch (error) {
        if (error instanceof RootKeyMissingError) return false;
        throw error;
      }
    },
    wrap: async (key, id, context) =>
      encrypt(await rootKey(id), encodeValueList(['bothost wrapped key', id, context]), key, randomBytes),
    unwrap: async (wrapped, id, context) => {
      const key = decrypt(await rootKey(id), encodeValueList(['bothost wrapped key', id, context]), wrapped);
      if (key.length !== 32) throw new DamagedDataError('the wrapped key has the wrong length');
      return key;
    },
    create:
      create === null
        ? null
        : async () => {
            const key = await create();
            byId.set(computeRootKeyId(key), key);
            return computeRootKeyId(key);
          },
  };
}
