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

/** Root keys of 32 bytes at hand here, the one to wrap with first. `make` makes another one, which is kept by then. */
export function localRootKeys(keys: readonly Buffer[], make: (() => Promise<Buffer>) | null = null): RootKeyProvider {
  const byId = new Map(keys.map((key) => [rootKeyId(key), key]));
  const rootKey = (id: string) => {
    const key = byId.get(id);
    if (key === undefined) throw new RootKeyMissing(`The root key ${id} is not at hand.`);
    return key;
  };
  return {
    status: async () => ({ ok: true, keyIds: [...byId.keys()] }),
    wrap: async (key, id, context) => seal(rootKey(id), encode(['bothost wrapped key', id, context]), key, randomBytes),
    unwrap: async (wrapped, id, context) => {
      const key = unseal(rootKey(id), encode(['bothost wrapped key', id, context]), wrapped);
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
