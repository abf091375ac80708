import { createHash, randomBytes } from 'node:crypto';
import { DamagedError } from './damaged.ts';
import { encode } from './encode.ts';
import { seal, unseal } from './seal.ts';

/**
 * Who keeps the root key, and wraps the keys of organizations with it. A key file and the environment are built in; a key
 * service can be another one, which is why all of it is asynchronous and no root key ever leaves it.
 */
export type RootKeyProvider = {
  /** `keyId` names the key that wraps from now on, for ever: no other key ever gets the same id. */
  readonly status: () => Promise<{ readonly ok: boolean; readonly keyId: string }>;
  readonly wrap: (key: Buffer, context: Buffer) => Promise<Buffer>;
  /** @throws DamagedError where the key or its context is another one; RootKeyMissing where it has no such root key */
  readonly unwrap: (wrapped: Buffer, keyId: string, context: Buffer) => Promise<Buffer>;
};

/** The root key that something was wrapped with is not at hand: it may come back, and nothing is damaged. */
export class RootKeyMissing extends Error {
  override readonly name = 'RootKeyMissing';
}

/** A root key's name: says nothing of the key, and is another one for another key. */
export function rootKeyId(key: Buffer): string {
  return createHash('sha256').update('bothost root key id').update(key).digest('hex').slice(0, 16);
}

/** Root keys of 32 bytes at hand here: the first one wraps, all of them unwrap. */
export function localRootKeys(keys: readonly [Buffer, ...Buffer[]]): RootKeyProvider {
  const byId = new Map(keys.map((key) => [rootKeyId(key), key]));
  const [current] = keys;
  const keyId = rootKeyId(current);
  return {
    status: async () => ({ ok: true, keyId }),
    wrap: async (key, context) => seal(current, encode(['bothost wrapped key', keyId, context]), key, randomBytes),
    unwrap: async (wrapped, id, context) => {
      const root = byId.get(id);
      if (root === undefined) throw new RootKeyMissing(`The root key ${id} is not at hand.`);
      const key = unseal(root, encode(['bothost wrapped key', id, context]), wrapped);
      if (key.length !== 32) throw new DamagedError('the wrapped key has another length');
      return key;
    },
  };
}
