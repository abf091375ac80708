import { sql } from 'kysely';
import type { Database } from '../store/tables.ts';
import { revisionMac } from './revision-mac.ts';
import { type RevisionRow, type SecretSetRow, updateMac } from './rows.ts';
import { DamagedError } from './vault/damaged.ts';
import { milliseconds } from './vault/encode.ts';
import type { Keyring } from './vault/keyring.ts';
import { isMac, macVersion } from './vault/mac.ts';
import { RootKeyMissing } from './vault/root-key.ts';

type Context = { readonly db: Database; readonly keyring: Keyring };

/**
 * Gives revisions from before migration 0016 their MAC. A migration has no keys, so each start does this for revisions without
 * one. Only a revision that matches its former MAC gets a new one, so a forged row is never accepted. Each batch is a
 * transaction, and the next start continues after a kill.
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
      await updateMac(db, set.id, row.revision, revisionMac(key, set, row));
    } catch (error) {
      // Without a MAC the revision counts as damaged. If its key comes back, the next start adds the MAC.
      if (!(error instanceof DamagedError || error instanceof RootKeyMissing)) throw error;
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

/** The MAC of migrations 0010 to 0015 covered all columns of a revision. */
async function matchesFormerMac({ db, keyring }: Context, set: SecretSetRow, row: RevisionRow): Promise<boolean> {
  const version = macVersion(row.former_mac);
  if (row.former_mac === null || version === null) return false;
  const key = await keyring.version(db, set.organization_id, 'stamp', version);
  const fields = [
    row.set_id,
    row.revision,
    row.action,
    row.rolled_back_to,
    row.host,
    JSON.stringify([row.entries, row.added, row.changed, row.removed]),
    row.expires_at === null ? null : milliseconds(row.expires_at),
    row.created_by_key_id,
    milliseconds(row.created_at),
  ];
  return isMac(key, 'row of secret_revisions', fields, row.former_mac);
}
