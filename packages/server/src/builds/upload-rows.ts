import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Database, UploadsTable } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';

export type UploadRow = Selectable<UploadsTable>;

/** Returns the upload of this content, or creates one. Marks the upload as used, so that it is not removed. */
export async function requireUpload(db: Database, row: Insertable<UploadsTable>): Promise<UploadRow> {
  const announced = ['organization_id', 'region', 'content_hash', 'size_bytes'] as const;
  return db
    .insertInto('uploads')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns([...announced])
        .where('announced', '=', true)
        .doUpdateSet({ updated_at: row.updated_at }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function countUnusedUploads(db: Database, organizationId: string): Promise<number> {
  const { count } = await db
    .selectFrom('uploads')
    .select(sql<number>`count(*)`.as('count'))
    .where('organization_id', '=', organizationId)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('builds').select('builds.id').whereRef('builds.upload_id', '=', 'uploads.id'))),
    )
    .executeTakeFirstOrThrow();
  return count;
}

/** Size of all archives of an organization in bytes, including parts that were announced but have not arrived. */
export async function sumArchiveBytes(db: Database, organizationId: string): Promise<number> {
  const { bytes } = await db
    .selectFrom('uploads')
    .select(sql<number>`coalesce(sum(size_bytes), 0)::float8`.as('bytes'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  return bytes;
}

export async function findUpload(db: Database, id: string): Promise<UploadRow | undefined> {
  if (!isUuid(id)) return undefined;
  return db.selectFrom('uploads').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Marks an upload as used, and prevents its removal until the transaction ends. False if the upload does not exist. */
export async function markUploadUsed(db: Database, id: string, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('uploads')
    .set({ updated_at: at })
    .where('id', '=', id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export function completeUploadRow(
  db: Database,
  id: string,
  content: Required<Pick<Updateable<UploadsTable>, 'content_hash' | 'context_hash' | 'size_bytes' | 'updated_at'>>,
): Promise<UploadRow | undefined> {
  return db
    .updateTable('uploads')
    .set({ ...content, state: 'complete' })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

export async function listCompleteUploads(db: Database, region: string): Promise<string[]> {
  const uploads = db.selectFrom('uploads').select('id').where('region', '=', region).where('state', '=', 'complete');
  return (await uploads.execute()).map(({ id }) => id);
}

/** Deletes uploads that have no build and were last used before a time. Returns the ids of these uploads. */
export async function deleteUploads(db: Database, region: string, before: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from uploads where id in (
      select id from uploads where region = ${region} and updated_at < ${before}
        and not exists (select from builds where builds.upload_id = uploads.id)
      limit ${limit} for update skip locked)`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Marks a complete upload as open again, because its archive was lost and must be sent again. */
export function reopenUpload(db: Database, id: string, at: Date): Promise<UploadRow | undefined> {
  return db
    .updateTable('uploads')
    .set({ state: 'open', updated_at: at })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

export async function findExistingUploadIds(db: Database, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db.selectFrom('uploads').select('id').where('id', 'in', ids).execute();
  return new Set(rows.map(({ id }) => id));
}
