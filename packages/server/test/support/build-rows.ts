import type { Insertable } from 'kysely';
import type { BuildRow } from '../../src/builds/rows.ts';
import type { BuildsTable, Database, UploadsTable } from '../../src/store/tables.ts';
import { newId } from '../../src/store/uuid.ts';

/** Inserts rows for a build and its upload. The test provides the archive. */
export async function insertTestBuild(
  db: Database,
  organizationId: string,
  fields: Partial<Insertable<BuildsTable>> = {},
  upload: Partial<Insertable<UploadsTable>> = {},
): Promise<BuildRow> {
  const now = new Date();
  const content = { content_hash: 'c'.repeat(64), context_hash: 'c'.repeat(16), size_bytes: 10 };
  const uploadId = newId();
  await db
    .insertInto('uploads')
    .values({
      ...content,
      id: uploadId,
      organization_id: organizationId,
      region: 'us-west',
      announced: false,
      state: 'complete',
      created_at: now,
      updated_at: now,
      ...upload,
    })
    .execute();
  return db
    .insertInto('builds')
    .values({
      ...content,
      id: newId(),
      organization_id: organizationId,
      region: 'us-west',
      upload_id: uploadId,
      dockerfile_path: 'Dockerfile',
      state: 'pending',
      created_at: now,
      updated_at: now,
      used_at: now,
      ...fields,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}
