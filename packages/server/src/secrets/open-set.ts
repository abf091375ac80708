import type { Database } from '../store/tables.ts';
import { type LoggedRevision, loggedRevisions } from './logged-rows.ts';
import { findRevision, type RevisionRow, revisionsOf, type SecretSetRow, type ValueRow, valuesOf } from './rows.ts';
import { revisionFields, setFields } from './stamped-fields.ts';
import { DamagedError } from './vault/damaged.ts';
import { fingerprintOf, isStamp, stampVersion } from './vault/fingerprint.ts';
import { type Keyring, lookedUpOnce } from './vault/keyring.ts';
import { keyVersionOf, openValue, type ValuePlace } from './vault/sealed-value.ts';

type Context = { readonly db: Database; readonly keyring: Keyring };

/**
 * @throws DamagedError unless the set's row is as it was written, its revisions are those that it names, and the audit log
 * knows of no later one
 */
export async function requireSetWhole({ db, keyring }: Context, set: SecretSetRow): Promise<void> {
  await requireSetStamp({ db, keyring }, set);
  requireRevisions(set, await revisionsOf(db, set.id));
  requireLogged(set, (await loggedRevisions(db, set.organization_id, set.id)).get(set.id));
}

/**
 * An old state of a set that was put back, all of it, is as it was written once. The audit log, which goes on with every
 * change in its transaction, tells that it is not what was written last.
 *
 * @throws DamagedError unless the set is at the revision that the log names
 */
export function requireLogged(set: Pick<SecretSetRow, 'revision'>, last: LoggedRevision | undefined): void {
  const { action = null, logged = null, isOld = false } = last ?? {};
  if (action === null && !isOld) throw new DamagedError('the audit log does not name it');
  if (action === 'secrets.delete') throw new DamagedError('the audit log says that it was deleted');
  if (action !== null && logged !== set.revision) {
    throw new DamagedError(`it is at revision ${set.revision}, and the audit log says ${logged}`);
  }
}

/** @throws DamagedError unless these are the revisions that the set names */
export function requireRevisions(set: Pick<SecretSetRow, 'revision' | 'revisions'>, present: readonly number[]): void {
  if (present.join() !== set.revisions.join() || present.at(-1) !== set.revision) {
    throw new DamagedError('the revisions of the set are not those that it names');
  }
}

/** A revision of a set. @throws DamagedError unless it is there as it was written */
export async function openRevision(
  { db, keyring }: Context,
  set: SecretSetRow,
  revision: number,
): Promise<RevisionRow> {
  const row = await findRevision(db, set.id, revision);
  if (row === undefined) throw new DamagedError(`there is no revision ${revision}`);
  await requireRevisionStamp({ db, keyring }, set, row);
  return row;
}

/** @throws DamagedError unless the set's row is as it was written */
export function requireSetStamp(context: Context, set: SecretSetRow): Promise<void> {
  return requireStamp(context, set.organization_id, 'secret_sets', setFields(set), set.stamp);
}

/** @throws DamagedError unless the revision's row is as it was written */
export function requireRevisionStamp(context: Context, set: SecretSetRow, row: RevisionRow): Promise<void> {
  return requireStamp(context, set.organization_id, 'secret_revisions', revisionFields(row), row.stamp);
}

/** The rows of a revision's values, by key in its order. @throws DamagedError when one is missing */
export async function valueRowsOf(db: Database, revision: RevisionRow): Promise<Map<string, ValueRow>> {
  const rows = await valuesOf(db, revision.set_id, revision.entries);
  return new Map(
    revision.entries.map(([key, written]) => {
      const row = rows.find((candidate) => candidate.key === key && candidate.revision === written);
      if (row === undefined) throw new DamagedError(`the value of ${key} of revision ${written} is missing`);
      return [key, row];
    }),
  );
}

/** One value. @throws DamagedError unless it and its row are as they were written */
export async function openRow({ db, keyring }: Context, set: SecretSetRow, row: ValueRow): Promise<Buffer> {
  const version = keyVersionOf(row.sealed);
  if (version !== row.key_version) throw new DamagedError(`the value of ${row.key} names another key than its row`);
  const key = await keyring.version(db, set.organization_id, 'value', version);
  const value = openValue(key, placeOf(set, row), row.sealed);
  const printKey = await keyring.version(db, set.organization_id, 'fingerprint', row.fingerprint_version);
  if (!fingerprintOf(printKey, { setId: set.id, key: row.key }, value).equals(row.fingerprint)) {
    throw new DamagedError(`the fingerprint of ${row.key} is not that of its value`);
  }
  return value;
}

/**
 * All values of one revision, for the one who needs them and nobody else. Fails as a whole. The set has to be read in the
 * same `inSnapshot`, or be locked.
 *
 * @throws DamagedError, RootKeyMissing
 */
export async function openValues(context: Context, set: SecretSetRow, revision: number): Promise<Map<string, Buffer>> {
  await requireSetWhole(context, set);
  const rows = await valueRowsOf(context.db, await openRevision(context, set, revision));
  const reading = { ...context, keyring: lookedUpOnce(context.keyring) };
  const values = new Map<string, Buffer>();
  for (const [key, row] of rows) values.set(key, await openRow(reading, set, row));
  return values;
}

/** Where the value of a row belongs. */
export function placeOf(
  set: Pick<SecretSetRow, 'organization_id' | 'region' | 'id' | 'kind'>,
  row: Pick<ValueRow, 'key' | 'revision' | 'fingerprint' | 'fingerprint_version' | 'bytes' | 'created_at'>,
): ValuePlace {
  return {
    organizationId: set.organization_id,
    region: set.region,
    setId: set.id,
    kind: set.kind,
    key: row.key,
    revision: row.revision,
    fingerprint: row.fingerprint,
    fingerprintVersion: row.fingerprint_version,
    bytes: row.bytes,
    createdAt: row.created_at,
  };
}

/** @throws DamagedError unless a row of an organization is as it was written */
export async function requireStamp(
  { db, keyring }: Context,
  organizationId: string,
  table: string,
  fields: readonly (string | number | null)[],
  stamp: Buffer,
): Promise<void> {
  const version = stampVersion(stamp);
  const key = version === null ? null : await keyring.version(db, organizationId, 'stamp', version);
  if (key === null || !isStamp(key, table, fields, stamp)) throw new DamagedError(`the row of ${table} was changed`);
}
