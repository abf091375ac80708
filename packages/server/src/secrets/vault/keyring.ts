import { randomBytes } from 'node:crypto';
import type { Database } from '../../store/tables.ts';
import { inTransaction } from '../../store/transaction.ts';
import { conceal } from './conceal.ts';
import { DamagedError } from './damaged.ts';
import { encode, milliseconds } from './encode.ts';
import type { VersionedKey } from './encrypted-value.ts';
import {
  findKey,
  findState,
  hasLostKey,
  insertKey,
  type KeyPurpose,
  newestKey,
  unusedVersion,
  type VaultKeyRow,
} from './key-rows.ts';
import type { RootKeyProvider } from './root-key.ts';

/** The keys of organizations, unwrapped when they are needed. */
export type Keyring = {
  /**
   * Creates the keys that an organization does not have yet. Call it outside a transaction: the cache would keep keys that a
   * rollback removes.
   *
   * @throws DamagedError if the organization has sets but no key, because a new key would decrypt none of them
   */
  readonly ensure: (db: Database, organizationId: string) => Promise<void>;
  /** The newest key, which encrypts what is written from now on. @throws DamagedError, RootKeyMissing */
  readonly current: (db: Database, organizationId: string, purpose: KeyPurpose) => Promise<VersionedKey>;
  /** @throws DamagedError if the key is missing or does not unwrap; RootKeyMissing if its root key is not available */
  readonly version: (
    db: Database,
    organizationId: string,
    purpose: KeyPurpose,
    version: number,
  ) => Promise<VersionedKey>;
  /** Creates the next version of each key that an organization has. Call it in a transaction. Returns how many. */
  readonly rotate: (db: Database, organizationId: string) => Promise<number>;
};

/** `stamp` is the key of MACs. Wrapped keys are bound to their purpose, so it keeps the name that it has in the database. */
const purposes: readonly KeyPurpose[] = ['value', 'fingerprint', 'stamp'];
const cacheMilliseconds = 300_000;
const cacheEntries = 10_000;

/** Caches unwrapped keys for five minutes, so a root key may be missing for less than that. */
export function createKeyring(context: { rootKeys: RootKeyProvider; now: () => Date }): Keyring {
  const { rootKeys, now } = context;
  const cache = new Map<string, { readonly key: VersionedKey; readonly until: number }>();

  /** The lock on the state makes sure that no key is wrapped with the former root key after a rotation. */
  function create(db: Database, organizationId: string, purpose: KeyPurpose, version: number): Promise<void> {
    return inTransaction(db, async (inside) => {
      const state = await findState(inside, 'share');
      if (state === undefined) throw new DamagedError('the state of the vault is missing');
      const key = randomBytes(32);
      const row = {
        organization_id: organizationId,
        purpose,
        version,
        root_key_id: state.root_key_id,
        created_at: now(),
      };
      const wrapped = await rootKeys.wrap(key, state.root_key_id, keyContext(row));
      key.fill(0);
      await insertKey(inside, { ...row, wrapped });
    });
  }

  async function unwrap(row: VaultKeyRow): Promise<VersionedKey> {
    // The id contains the whole row, so a row that changed in the database is not served from the cache.
    const id = `${row.organization_id} ${row.purpose} ${row.version} ${row.root_key_id} ${milliseconds(row.created_at)} ${row.wrapped.toString('base64')}`;
    const cached = cache.get(id);
    if (cached !== undefined && cached.until > now().getTime()) return cached.key;
    const unwrapped = await rootKeys.unwrap(row.wrapped, row.root_key_id, keyContext(row));
    const key = { version: row.version, key: conceal(unwrapped) };
    if (cache.size >= cacheEntries) cache.clear();
    cache.set(id, { key, until: now().getTime() + cacheMilliseconds });
    return key;
  }

  return {
    ensure: async (db, organizationId) => {
      for (const purpose of purposes) {
        if ((await newestKey(db, organizationId, purpose)) !== undefined) continue;
        if (await hasLostKey(db, organizationId, purpose)) throw noKey(purpose);
        await create(db, organizationId, purpose, 1);
      }
    },
    current: async (db, organizationId, purpose) => {
      const row = await newestKey(db, organizationId, purpose);
      if (row === undefined) throw noKey(purpose);
      return unwrap(row);
    },
    version: async (db, organizationId, purpose, version) => {
      const row = await findKey(db, organizationId, purpose, version);
      if (row === undefined) throw new DamagedError(`the organization has no ${purpose} key of version ${version}`);
      return unwrap(row);
    },
    rotate: async (db, organizationId) => {
      const version = await unusedVersion(db, organizationId);
      let created = 0;
      for (const purpose of purposes) {
        if ((await newestKey(db, organizationId, purpose)) === undefined) continue;
        await create(db, organizationId, purpose, version);
        created += 1;
      }
      return created;
    },
  };
}

function noKey(purpose: KeyPurpose): DamagedError {
  return new DamagedError(`the organization has no ${purpose} key`);
}

/** Looks each version of a key up once. Use it for reading many values in one snapshot. */
export function withVersionCache(keyring: Keyring): Keyring {
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

/** The associated data of a wrapped key: all other columns of its row. */
export function keyContext(row: Omit<VaultKeyRow, 'wrapped'>): Buffer {
  return encode([row.organization_id, row.purpose, row.version, row.root_key_id, milliseconds(row.created_at)]);
}
