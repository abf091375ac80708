import { randomBytes } from 'node:crypto';
import type { Database } from '../../store/tables.ts';
import { inTransaction } from '../../store/transaction.ts';
import { conceal } from './conceal.ts';
import { DamagedError } from './damaged.ts';
import { encode, milliseconds } from './encode.ts';
import { findKey, findState, insertKey, type KeyPurpose, newestKey, type VaultKeyRow } from './key-rows.ts';
import type { RootKeyProvider } from './root-key.ts';
import type { VersionedKey } from './sealed-value.ts';
import { hasLostKeys, nextVersion } from './sealed-with.ts';

/** The keys of organizations, unwrapped when they are needed. */
export type Keyring = {
  /**
   * Makes the keys that an organization does not have yet. Never inside of a transaction: keys that are taken back after
   * something was sealed with them would be lost.
   *
   * @throws DamagedError when it has sets and no key: the key is lost, and another one would open nothing
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
  /**
   * Makes the next version of each of an organization's keys: what is written from now on is sealed with it. Answers how
   * many it made: none where the organization has no keys.
   */
  readonly rotate: (db: Database, organizationId: string) => Promise<number>;
};

const purposes: readonly KeyPurpose[] = ['value', 'fingerprint', 'stamp'];
/** A root key that is away for a while stops nobody whose keys are known; one that was taken away is forgotten by then. */
const cacheMilliseconds = 300_000;
const cacheEntries = 10_000;

/**
 * A keyring on the root keys of this server. It remembers unwrapped keys for five minutes, so a root key that is away for
 * less than that stops nobody.
 */
export function createKeyring(context: { rootKeys: RootKeyProvider; now: () => Date }): Keyring {
  const { rootKeys, now } = context;
  const opened = new Map<string, { readonly key: VersionedKey; readonly until: number }>();

  /** In a transaction that holds the choice of the root key: after a change of it nothing is wrapped with the former one. */
  function make(db: Database, organizationId: string, purpose: KeyPurpose, version: number): Promise<void> {
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

  async function open(row: VaultKeyRow): Promise<VersionedKey> {
    // Of the row as it is now: one that was changed in the database is not served from memory.
    const id = `${row.organization_id} ${row.purpose} ${row.version} ${row.root_key_id} ${milliseconds(row.created_at)} ${row.wrapped.toString('base64')}`;
    const known = opened.get(id);
    if (known !== undefined && known.until > now().getTime()) return known.key;
    const unwrapped = await rootKeys.unwrap(row.wrapped, row.root_key_id, keyContext(row));
    const key = { version: row.version, key: conceal(unwrapped) };
    if (opened.size >= cacheEntries) opened.clear();
    opened.set(id, { key, until: now().getTime() + cacheMilliseconds });
    return key;
  }

  return {
    require: async (db, organizationId) => {
      for (const purpose of purposes) {
        if ((await newestKey(db, organizationId, purpose)) !== undefined) continue;
        if (await hasLostKeys(db, { organization_id: organizationId, purpose })) throw noKey(purpose);
        await make(db, organizationId, purpose, 1);
      }
    },
    current: async (db, organizationId, purpose) => {
      const row = await newestKey(db, organizationId, purpose);
      if (row === undefined) throw noKey(purpose);
      return open(row);
    },
    version: async (db, organizationId, purpose, version) => {
      const row = await findKey(db, organizationId, purpose, version);
      if (row === undefined) throw new DamagedError(`the organization has no ${purpose} key of version ${version}`);
      return open(row);
    },
    rotate: async (db, organizationId) => {
      let made = 0;
      for (const purpose of purposes) {
        const newest = await newestKey(db, organizationId, purpose);
        if (newest === undefined) continue;
        await make(db, organizationId, purpose, await nextVersion(db, newest));
        made += 1;
      }
      return made;
    },
  };
}

function noKey(purpose: KeyPurpose): DamagedError {
  return new DamagedError(`the organization has no ${purpose} key`);
}

/** For reading many values at one moment: each version of a key is looked up once. */
export function lookedUpOnce(keyring: Keyring): Keyring {
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

/** All that the row of a key says: it unwraps at its place only. */
export function keyContext(row: Omit<VaultKeyRow, 'wrapped'>): Buffer {
  return encode([row.organization_id, row.purpose, row.version, row.root_key_id, milliseconds(row.created_at)]);
}
