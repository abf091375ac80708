import { randomBytes } from 'node:crypto';
import type { Database } from '../../store/tables.ts';
import { DamagedError } from './damaged.ts';
import { encode } from './encode.ts';
import { findKey, insertKey, type KeyPurpose, newestKey, type VaultKeyRow } from './key-rows.ts';
import type { RootKeyProvider } from './root-key.ts';
import type { VersionedKey } from './sealed-value.ts';

/** The keys of organizations, unwrapped when they are needed. */
export type Keyring = {
  /**
   * Makes the keys that an organization does not have yet. Never inside of a transaction: keys that are taken back after
   * something was sealed with them would be lost.
   */
  readonly require: (db: Database, organizationId: string) => Promise<void>;
  /** The one that seals from now on. */
  readonly current: (db: Database, organizationId: string, purpose: KeyPurpose) => Promise<VersionedKey>;
  /** @throws DamagedError when there is none, or it does not unwrap; RootKeyMissing when its root key is not at hand */
  readonly version: (
    db: Database,
    organizationId: string,
    purpose: KeyPurpose,
    version: number,
  ) => Promise<VersionedKey>;
  /** Makes the next version of each of an organization's keys: what is written from now on is sealed with it. */
  readonly rotate: (db: Database, organizationId: string) => Promise<void>;
};

const purposes: readonly KeyPurpose[] = ['value', 'fingerprint', 'stamp'];
/** A root key that is away for a while stops nobody whose keys are known; one that was taken away is forgotten by then. */
const cacheMilliseconds = 300_000;
const cacheEntries = 10_000;

export function createKeyring(context: { rootKeys: RootKeyProvider; now: () => Date }): Keyring {
  const { rootKeys, now } = context;
  const opened = new Map<string, { readonly key: VersionedKey; readonly until: number }>();

  async function make(db: Database, organizationId: string, purpose: KeyPurpose, version: number): Promise<void> {
    const { keyId } = await rootKeys.status();
    const key = randomBytes(32);
    const row = { organization_id: organizationId, purpose, version, root_key_id: keyId, created_at: now() };
    const wrapped = await rootKeys.wrap(key, keyContext(row));
    key.fill(0);
    await insertKey(db, { ...row, wrapped });
  }

  async function open(row: VaultKeyRow): Promise<VersionedKey> {
    // Of the row as it is now: one that was changed in the database is not served from memory.
    const id = `${row.organization_id} ${row.purpose} ${row.version} ${row.root_key_id} ${row.created_at.getTime()} ${row.wrapped.toString('base64')}`;
    const known = opened.get(id);
    if (known !== undefined && known.until > now().getTime()) return known.key;
    const key = { version: row.version, key: await rootKeys.unwrap(row.wrapped, row.root_key_id, keyContext(row)) };
    if (opened.size >= cacheEntries) opened.clear();
    opened.set(id, { key, until: now().getTime() + cacheMilliseconds });
    return key;
  }

  return {
    require: async (db, organizationId) => {
      for (const purpose of purposes) {
        if ((await newestKey(db, organizationId, purpose)) === undefined) await make(db, organizationId, purpose, 1);
      }
    },
    current: async (db, organizationId, purpose) => {
      const row = await newestKey(db, organizationId, purpose);
      if (row === undefined) throw new DamagedError(`the organization has no ${purpose} key`);
      return open(row);
    },
    version: async (db, organizationId, purpose, version) => {
      const row = await findKey(db, organizationId, purpose, version);
      if (row === undefined) throw new DamagedError(`the organization has no ${purpose} key of version ${version}`);
      return open(row);
    },
    rotate: async (db, organizationId) => {
      for (const purpose of purposes) {
        const newest = await newestKey(db, organizationId, purpose);
        await make(db, organizationId, purpose, (newest?.version ?? 0) + 1);
      }
    },
  };
}

/** All that the row of a key says: it unwraps at its place only. */
export function keyContext(row: Omit<VaultKeyRow, 'wrapped'>): Buffer {
  return encode([row.organization_id, row.purpose, row.version, row.root_key_id, row.created_at.getTime()]);
}
