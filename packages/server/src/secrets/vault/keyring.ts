import { randomBytes } from 'node:crypto';
import type { Database } from '../../store/tables.ts';
import { runInTransaction } from '../../store/transaction.ts';
import { DamagedDataError } from './damaged-data-error.ts';
import { encodeValueList, toEpochMilliseconds } from './encode.ts';
import type { VersionedKey } from './encrypted-value.ts';
import { hideBufferFromLogs } from './hide-buffer-from-logs.ts';
import {
  findKey,
  findNewestKey,
  findUnusedKeyVersion,
  findVaultState,
  hasLostKey,
  insertVaultKey,
  type KeyPurpose,
  type VaultKeyRow,
} from './key-rows.ts';
import type { RootKeyProvider } from './root-key.ts';

export type Keyring = {
  /**
   * Creates missing keys of an organization. Call this outside a transaction: after a rollback, the cache would still contain the
   * keys.
   *
   * @throws DamagedDataError if the organization has sets but no key, because a new key could not decrypt them
   */
  readonly ensure: (db: Database, organizationId: string) => Promise<void>;
  /** Returns the newest key for a purpose, which is used for all new data. @throws DamagedDataError, RootKeyMissingError */
  readonly current: (db: Database, organizationId: string, purpose: KeyPurpose) => Promise<VersionedKey>;
  /**
   * Returns a key by its version.
   *
   * @throws DamagedDataError if the key is missing or does not unwrap; RootKeyMissingError if its root key is not available
   */
  readonly version: (
    db: Database,
    organizationId: string,
    purpose: KeyPurpose,
    version: number,
  ) => Promise<VersionedKey>;
  /** Creates the next version of each existing key of an organization. Call this in a transaction. Returns the number of keys. */
  readonly rotate: (db: Database, organizationId: string) => Promise<number>;
};

/** The purpose of keys that compute MACs. Its value cannot change, because wrapped keys are bound to their purpose. */
export const macKeyPurpose = 'stamp';

const purposes: readonly KeyPurpose[] = ['value', 'fingerprint', macKeyPurpose];
const cacheMs = 300_000;
const cacheEntries = 10_000;

/** Caches unwrapped keys for five minutes, so decryption may work for that long after a root key is removed. */
export function createKeyring(context: { rootKeys: RootKeyProvider; now: () => Date }): Keyring {
  const { rootKeys, now } = context;
  const cache = new Map<string, { readonly key: VersionedKey; readonly until: number }>();

  /** Creates a key. Locks the vault's state meanwhile, so that no rotation replaces the root key that wraps the new key. */
  function create(db: Database, organizationId: string, purpose: KeyPurpose, version: number): Promise<void> {
    return runInTransaction(db, async (inside) => {
      const state = await findVaultState(inside, 'share');
      if (state === undefined) throw new DamagedDataError('the row of vault_state is missing');
      const key = randomBytes(32);
      const row = {
        organization_id: organizationId,
        purpose,
        version,
        root_key_id: state.root_key_id,
        created_at: now(),
      };
      const wrapped = await rootKeys.wrap(key, state.root_key_id, encodeWrappedKeyContext(row));
      key.fill(0);
      await insertVaultKey(inside, { ...row, wrapped });
    });
  }

  async function unwrap(row: VaultKeyRow): Promise<VersionedKey> {
    // The cache id contains the whole row, so that a row that was changed in the database is not served from the cache.
    const id = `${row.organization_id} ${row.purpose} ${row.version} ${row.root_key_id} ${toEpochMilliseconds(row.created_at)} ${row.wrapped.toString('base64')}`;
    const cached = cache.get(id);
    if (cached !== undefined && cached.until > now().getTime()) return cached.key;
    const unwrapped = await rootKeys.unwrap(row.wrapped, row.root_key_id, encodeWrappedKeyContext(row));
    const key = { version: row.version, key: hideBufferFromLogs(unwrapped) };
    if (cache.size >= cacheEntries) cache.clear();
    cache.set(id, { key, until: now().getTime() + cacheMs });
    return key;
  }

  return {
    ensure: async (db, organizationId) => {
      for (const purpose of purposes) {
        if ((await findNewestKey(db, organizationId, purpose)) !== undefined) continue;
        if (await hasLostKey(db, organizationId, purpose)) throw noKey(purpose);
        await create(db, organizationId, purpose, 1);
      }
    },
    current: async (db, organizationId, purpose) => {
      const row = await findNewestKey(db, organizationId, purpose);
      if (row === undefined) throw noKey(purpose);
      return unwrap(row);
    },
    version: async (db, organizationId, purpose, version) => {
      const row = await findKey(db, organizationId, purpose, version);
      if (row === undefined) throw new DamagedDataError(`the organization has no ${purpose} key of version ${version}`);
      return unwrap(row);
    },
    rotate: async (db, organizationId) => {
      const version = await findUnusedKeyVersion(db, organizationId);
      let created = 0;
      for (const purpose of purposes) {
        if ((await findNewestKey(db, organizationId, purpose)) === undefined) continue;
        await create(db, organizationId, purpose, version);
        created += 1;
      }
      return created;
    },
  };
}

function noKey(purpose: KeyPurpose): DamagedDataError {
  return new DamagedDataError(`the organization has no ${purpose} key`);
}

/** Returns a keyring that remembers each key it has looked up by version. Use it to read many values in one snapshot. */
export function createCachingKeyring(keyring: Keyring): Keyring {
  const versions = new Map<string, Promise<VersionedKey>>();
  return {
    ...keyring,
    version: (db, organizationId, purpose, version) => {
      const id = `${organizationId} ${purpose} ${version}`;
      const known = versions.get(id) ?? keyring.version(db, organizationId, purpose, version);
      versions.set(id, known);
      return known;
    },
  };
}

/** Returns the associated data of a wrapped key: all other columns of its row. */
export function encodeWrappedKeyContext(row: Omit<VaultKeyRow, 'wrapped'>): Buffer {
  return encodeValueList([
    row.organization_id,
    row.purpose,
    row.version,
    row.root_key_id,
    toEpochMilliseconds(row.created_at),
  ]);
}
