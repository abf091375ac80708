import { sql } from 'kysely';
import type { Database } from '../store/tables.ts';
import { computeRevisionMac } from './revision-mac.ts';
import { type RevisionRow, type SecretSetRow, updateRevisionMac } from './rows.ts';
import { DamagedDataError } from './vault/damaged.ts';
import { toEpochMilliseconds } from './vault/encode.ts';
import type { Keyring } from './vault/keyring.ts';
import { isValidMac, readMacKeyVersion } from './vault/mac.ts';
import { RootKeyMissingError } from './vault/root-key.ts';

type Context = { readonly db: Database; readonly keyring: Keyring };

/**
 * Adds a MAC in the current format to each secret set revision from before migration 0016. Runs at each start, because a
 * migration has no access to keys. First verifies the revision's MAC in the earlier format, so a forged row is never accepted.
 * Each batch is one transaction, so after a kill the next start continues with the remaining revisions.
 */
export async function addRevisionMacs({ db, keyring }: Context, batch = 100): Promise<void> {
  let after: Position | null = null;
  do after = await db.transaction().execute((inside) => addToBatch({ db: inside, keyring }, after, batch));
  while (after !== null);
}

type Position = Pick<RevisionRow, 'set_id' | 'revision'>;

async function addToBatch({ db, keyring }: Context, after: Position | null, batch: number): Promise<Position | null> {
  const rows = await revisionsWithoutMac(db, after, batch);
  for (const row of rows) {
    const set = await db.selectFrom('secret_sets').selectAll().where('id', '=', row.set_id).executeTakeFirstOrThrow();
    try {
      if (!(await matchesFormerMac({ db, keyring }, set, row))) continue;
      const key = await keyring.current(db, set.organization_id, 'stamp');
      await updateRevisionMac(db, set.id, row.revision, computeRevisionMac(key, set, row));
    } catch (error) {
      // Skip this revision. Without a MAC, it counts as damaged. If its key is restored, the next start adds the MAC.
      if (!(error instanceof DamagedDataError || error instanceof RootKeyMissingError)) throw error;
    }
  }
  return rows.at(-1) ?? null;
}

function revisionsWithoutMac(db: Database, after: Position | null, batch: number): Promise<RevisionRow[]> {
  return db
    .selectFrom('secret_revisions')
    .selectAll()
    .where('mac', 'is', null)
    .$if(after !== null, (query) =>
      query.where(sql<boolean>`(set_id, revision) > (${after?.set_id}::uuid, ${after?.revision}::integer)`),
    )
    .orderBy('set_id')
    .orderBy('revision')
    .limit(batch)
    .forUpdate()
    .execute();
}

/** Whether a revision matches its MAC from before migration 0016. That MAC covered all columns of the revision. */
async function matchesFormerMac({ db, keyring }: Context, set: SecretSetRow, row: RevisionRow): Promise<boolean> {
  const version = readMacKeyVersion(row.former_mac);
  if (row.former_mac === null || version === null) return false;
  const key = await keyring.version(db, set.organization_id, 'stamp', version);
  const fields = [
    row.set_id,
    row.revision,
    row.action,
    row.rolled_back_to,
    row.host,
    JSON.stringify([row.entries, row.added, row.changed, row.removed]),
    row.expires_at === null ? null : toEpochMilliseconds(row.expires_at),
    row.created_by_key_id,
    toEpochMilliseconds(row.created_at),
  ];
  return isValidMac(key, 'row of secret_revisions', fields, row.former_mac);
}
