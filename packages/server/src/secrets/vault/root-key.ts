import { createHash, randomBytes } from 'node:crypto';
import { DamagedError } from './damaged.ts';
import { encode } from './encode.ts';
import { seal, unseal } from './seal.ts';

/**
 * Who keeps the root keys, and wraps the keys of organizations with them. Key files and the settings are built in; a key
 * service can be another one, which is why all of it is asynchronous and no root key ever leaves it. A key's id names it for
 * ever: no other key ever gets the same one.
 */
export type RootKeyProvider = {
  /** The keys that it has, the one that it would wrap with first. Which one does wrap stands in the database. */
  readonly status: () => Promise<{ readonly ok: boolean; readonly keyIds: readonly string[] }>;
  /** Whether it has a root key, also one that came since it was started. */
  readonly has: (keyId: string) => Promise<boolean>;
  /** @throws RootKeyMissing where it has no such root key */
  readonly wrap: (key: Buffer, keyId: string, context: Buffer) => Promise<Buffer>;
  /** @throws DamagedError where the key or its context is another one; RootKeyMissing where it has no such root key */
  readonly unwrap: (wrapped: Buffer, keyId: string, context: Buffer) => Promise<Buffer>;
  /** Makes another root key and returns its id; null where that is its owner's to do. */
  readonly make: (() => Promise<string>) | null;
};

/** The root key that something was wrapped with is not at hand: it may come back, and nothing is damaged. */
export class RootKeyMissing extends Error {
  override readonly name = 'RootKeyMissing';
}

/** A root key's name: says nothing of the key, and is another one for another key. */
export function rootKeyId(key: Buffer): string {
  return createHash('sha256').update('bothost root key id').update(key).digest('hex').slice(0, 16);
}

/** Where root keys come from while the service runs; both answer keys that are kept by then. */
export type RootKeyFiles = {
  /** The one of this id, where it has come since; null where it is not there. */
  readonly find: (keyId: string) => Promise<Buffer | null>;
  /** Makes another one; null where its owner does. */
  readonly make: (() => Promise<Buffer>) | null;
};

/** Root keys of 32 bytes at hand here, the one to wrap with first, and those that come to `files` later. */
export function localRootKeys(keys: readonly Buffer[], files: RootKeyFiles | null = null): RootKeyProvider {
  const byId = new Map(keys.map((key) => [rootKeyId(key), key]));
  const make = files?.make ?? null;

  async function rootKey(id: string): Promise<Buffer> {
    const known = byId.get(id);
    if (known !== undefined) return known;
    // Another server of the database may have gone over to it; whoever copies its file here needs no restart.
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
    throw new RootKeyMissing(`The root key ${id} is not available.`, { cause });
  }

  return {
    status: async () => ({ ok: true, keyIds: [...byId.keys()] }),
    has: async (id) => {
      try {
        return (await rootKey(id)).length > 0;
      } catch (error) {
        if (error instanceof RootKeyMissing) return false;
        throw error;
      }
    },
    wrap: async (key, id, context) =>
      seal(await rootKey(id), encode(['bothost wrapped key', id, context]), key, randomBytes),
    unwrap: async (wrapped, id, context) => {
      const key = unseal(await rootKey(id), encode(['bothost wrapped key', id, context]), wrapped);
      if (key.length !== 32) throw new DamagedError('the wrapped key has another length');
      return key;
    },
    make:
      make === null
        ? null
        : async () => {
            const key = await make();
            byId.set(rootKeyId(key), key);
            return rootKeyId(key);
          },
  };
}
