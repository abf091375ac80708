import { secretSetNamePattern } from '@bothost/contract';
import { type Insertable, type Selectable, sql } from 'kysely';
import type { Database, SecretRevisionsTable, SecretSetsTable, SecretValuesTable } from '../store/tables.ts';

export type SecretSetRow = Selectable<SecretSetsTable>;
export type RevisionRow = Selectable<SecretRevisionsTable>;
export type ValueRow = Selectable<SecretValuesTable>;

/** Finds a set, ignoring case. `lock` lasts until the transaction ends: `share` prevents changes, `update` is for changing it. */
export async function findSecretSet(
  db: Database,
  organizationId: string,
  name: string,
  lock: 'share' | 'update' | null = null,
): Promise<SecretSetRow | undefined> {
  // Reject invalid names: the pattern excludes, for example, the Kelvin sign (k), whose lower case is an ASCII letter.
  if (!secretSetNamePattern.test(name)) return undefined;
  let query = db
    .selectFrom('secret_sets')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where(sql<string>`lower(name)`, '=', name.toLowerCase());
  if (lock === 'share') query = query.forShare();
  if (lock === 'update') query = query.forUpdate();
  return query.executeTakeFirst();
}

export function findSecretSetById(
  db: Database,
  organizationId: string,
  id: string,
  lock?: 'share',
): Promise<SecretSetRow | undefined> {
  const query = db
    .selectFrom('secret_sets')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id);
  return (lock === undefined ? query : query.forShare()).executeTakeFirst();
}

export function lockSecretSet(db: Database, id: string): Promise<SecretSetRow | undefined> {
  return db.selectFrom('secret_sets').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
}

export async function findNewestRevisions(
  db: Database,
  organizationId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('secret_sets')
    .select(['id', 'revision'])
    .where('organization_id', '=', organizationId)
    .where('id', 'in', ids)
    .execute();
  return new Map(rows.map(({ id, revision }) => [id, revision]));
}

/** Takes a lock until the transaction ends, so that concurrent creations of sets cannot exceed the organization's limit. */
export async function lockSecretSetCreation(db: Database, organizationId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`secret sets ${organizationId}`}, 0))`.execute(db);
}

export async function countSecretSets(db: Database, organizationId: string | null): Promise<number> {
  const { count } = await db
    .selectFrom('secret_sets')
    .select(sql<number>`count(*)::int`.as('count'))
    .$if(organizationId !== null, (query) => query.where('organization_id', '=', organizationId))
    .executeTakeFirstOrThrow();
  return count;
}

export async function insertSecretSetRow(db: Database, row: Insertable<SecretSetsTable>): Promise<void> {
  await db.insertInto('secret_sets').values(row).execute();
}

export async function updateSecretSetRow(
  db: Database,
  id: string,
  change: Pick<SecretSetRow, 'revision' | 'updated_at'>,
): Promise<void> {
  await db.updateTable('secret_sets').set(change).where('id', '=', id).execute();
}

export async function deleteSecretSetRow(db: Database, id: string): Promise<void> {
  await db.deleteFrom('secret_sets').where('id', '=', id).execute();
}

export async function insertRevision(db: Database, row: Insertable<SecretRevisionsTable>): Promise<void> {
  await db.insertInto('secret_revisions').values(row).execute();
}

export function findRevision(db: Database, setId: string, revision: number): Promise<RevisionRow | undefined> {
  return db
    .selectFrom('secret_revisions')
    .selectAll()
    .where('set_id', '=', setId)
    .where('revision', '=', revision)
    .executeTakeFirst();
}

export function listRevisionRows(db: Database, setId: string): Promise<RevisionRow[]> {
  return db.selectFrom('secret_revisions').selectAll().where('set_id', '=', setId).orderBy('revision').execute();
}

/** Lists revisions, newest first, with the state of their delivery. */
export function listRevisionPage(db: Database, setId: string, page: { limit: number; before: number | undefined }) {
  return db
    .selectFrom('secret_revisions')
    .leftJoin('secret_deliveries', (join) =>
      join
        .onRef('secret_deliveries.set_id', '=', 'secret_revisions.set_id')
        .onRef('secret_deliveries.revision', '=', 'secret_revisions.revision'),
    )
    .selectAll('secret_revisions')
    .select('secret_deliveries.state')
    .where('secret_revisions.set_id', '=', setId)
    .$if(page.before !== undefined, (query) => query.where('secret_revisions.revision', '<', page.before ?? 0))
    .orderBy('secret_revisions.revision', 'desc')
    .limit(page.limit)
    .execute();
}

export async function insertValues(db: Database, rows: readonly Insertable<SecretValuesTable>[]): Promise<void> {
  if (rows.length > 0) await db.insertInto('secret_values').values(rows).execute();
}

export function findValueRows(
  db: Database,
  setId: string,
  entries: readonly (readonly [string, number])[],
): Promise<ValueRow[]> {
  if (entries.length === 0) return Promise.resolve([]);
  const keys = entries.map(([key]) => key);
  const revisions = entries.map(([, revision]) => revision);
  return db
    .selectFrom('secret_values')
    .selectAll()
    .where('set_id', '=', setId)
    .where(sql<boolean>`(key, revision) in (select * from unnest(${keys}::text[], ${revisions}::integer[]))`)
    .execute();
}

export async function updateRevisionMac(db: Database, setId: string, revision: number, mac: Buffer): Promise<void> {
  await db
    .updateTable('secret_revisions')
    .set({ mac })
    .where('set_id', '=', setId)
    .where('revision', '=', revision)
    .execute();
}
