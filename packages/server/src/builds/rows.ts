import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { BuildsTable, Database } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';

export type BuildRow = Selectable<BuildsTable>;

/** Inserts a build. Returns undefined if a build of the same content already exists. */
export function insertBuild(db: Database, row: Insertable<BuildsTable>): Promise<BuildRow | undefined> {
  return db
    .insertInto('builds')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
}

/** Finds the waiting, running or successful build of the same content, and updates the time of its last use. */
export function reuseBuildByContent(
  db: Database,
  content: Pick<BuildRow, 'organization_id' | 'region' | 'content_hash'>,
  at: Date,
): Promise<BuildRow | undefined> {
  return db
    .updateTable('builds')
    .set({ used_at: at })
    .where('organization_id', '=', content.organization_id)
    .where('region', '=', content.region)
    .where('content_hash', '=', content.content_hash)
    .where('state', 'in', ['pending', 'building', 'success'])
    .where('removing', '=', false)
    .where('cancel_requested_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

export async function findBuildRow(db: Database, organizationId: string, id: string): Promise<BuildRow | undefined> {
  if (!isUuid(id)) return undefined;
  return db
    .selectFrom('builds')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('removing', '=', false)
    .executeTakeFirst();
}

export async function lockSuccessfulBuild(
  db: Database,
  build: { readonly organizationId: string; readonly region: string; readonly id: string },
  at: Date,
): Promise<BuildRow | undefined> {
  if (!isUuid(build.id)) return undefined;
  return db
    .updateTable('builds')
    .set({ used_at: at })
    .where('id', '=', build.id)
    .where('organization_id', '=', build.organizationId)
    .where('region', '=', build.region)
    .where('state', '=', 'success')
    .where('removing', '=', false)
    .returningAll()
    .executeTakeFirst();
}

export type BuildFilter = {
  readonly organizationId: string;
  readonly status?: BuildRow['state'] | undefined;
  readonly region?: string | undefined;
  readonly contextHash?: string | undefined;
  readonly contentHash?: string | undefined;
  readonly dockerfilePath?: string | undefined;
};

function selectMatching(db: Database, filter: BuildFilter) {
  let query = db
    .selectFrom('builds')
    .where('organization_id', '=', filter.organizationId)
    .where('removing', '=', false);
  if (filter.status !== undefined) query = query.where('state', '=', filter.status);
  if (filter.region !== undefined) query = query.where('region', '=', filter.region);
  if (filter.contextHash !== undefined) query = query.where('context_hash', '=', filter.contextHash);
  if (filter.contentHash !== undefined) query = query.where('content_hash', '=', filter.contentHash);
  if (filter.dockerfilePath !== undefined) query = query.where('dockerfile_path', '=', filter.dockerfilePath);
  return query;
}

export async function countBuilds(db: Database, filter: BuildFilter): Promise<number> {
  const { count } = await selectMatching(db, filter)
    .select(sql<number>`count(*)`.as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

export function listBuildPage(
  db: Database,
  filter: BuildFilter,
  page: { limit: number; offset: number; after: { createdAt: Date; id: string } | null },
): Promise<BuildRow[]> {
  const { after } = page;
  return selectMatching(db, filter)
    .selectAll()
    .$if(after !== null, (query) =>
      query.where(sql<boolean>`(created_at, id) < (${after?.createdAt}::timestamptz, ${after?.id}::uuid)`),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(after === null ? page.offset : 0)
    .execute();
}

/** Returns the builds of a region that have not ended, oldest first. */
export function listUnfinishedBuildRows(db: Database, region: string): Promise<BuildRow[]> {
  return db
    .selectFrom('builds')
    .selectAll()
    .where('region', '=', region)
    .where('state', 'in', ['pending', 'building'])
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** Cancels a build: a waiting one immediately, a running one through a flag that its server polls. */
export function cancelUnfinishedBuild(
  db: Database,
  build: { readonly organizationId: string; readonly id: string },
  outcome: Pick<BuildRow, 'error_code' | 'error'>,
  at: Date,
): Promise<BuildRow | undefined> {
  const hasNotBegun = sql<boolean>`state = 'pending'`;
  return db
    .updateTable('builds')
    .set({
      cancel_requested_at: sql`coalesce(cancel_requested_at, ${at}::timestamptz)`,
      state: sql`case when ${hasNotBegun} then 'canceled' else state end`,
      error_code: sql`case when ${hasNotBegun} then ${outcome.error_code} else error_code end`,
      error: sql`case when ${hasNotBegun} then ${outcome.error} else error end`,
      completed_at: sql`case when ${hasNotBegun} then ${at}::timestamptz else completed_at end`,
      updated_at: at,
    })
    .where('id', '=', build.id)
    .where('organization_id', '=', build.organizationId)
    .where('state', 'in', ['pending', 'building'])
    .where('removing', '=', false)
    .returningAll()
    .executeTakeFirst();
}

/** Updates a build that has not ended. Returns undefined if the build has ended. */
export function changeUnfinishedBuild(
  db: Database,
  id: string,
  change: Updateable<BuildsTable>,
): Promise<BuildRow | undefined> {
  return db
    .updateTable('builds')
    .set(change)
    .where('id', '=', id)
    .where('state', 'in', ['pending', 'building'])
    .returningAll()
    .executeTakeFirst();
}

/**
 * Reopens the successful builds of an archive that was lost and uploaded again, because their prepared projects may be lost
 * too. Skips builds with a cancel request that came too late, because this request would cancel the reopened build.
 */
export async function reopenBuildsOfUpload(db: Database, uploadId: string, at: Date): Promise<void> {
  await db
    .updateTable('builds')
    .set({ state: 'pending', prepared: null, completed_at: null, updated_at: at })
    .where('upload_id', '=', uploadId)
    .where('state', '=', 'success')
    .where('cancel_requested_at', 'is', null)
    .where('removing', '=', false)
    .execute();
}

export async function listSuccessfulBuilds(db: Database, region: string): Promise<string[]> {
  const builds = db.selectFrom('builds').select('id').where('region', '=', region).where('removing', '=', false);
  return (await builds.where('state', '=', 'success').execute()).map(({ id }) => id);
}

/** Returns ended builds that were last used before a time, and locks their rows until the transaction ends. */
export async function lockUnusedBuilds(db: Database, region: string, before: Date, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('builds')
    .select('id')
    .where('region', '=', region)
    .where('state', 'in', ['success', 'failed', 'timeout', 'canceled'])
    .where('removing', '=', false)
    .where('used_at', '<', before)
    .orderBy('used_at')
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute();
  return rows.map(({ id }) => id);
}

export async function markBuildsForRemoval(db: Database, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await db.updateTable('builds').set({ removing: true }).where('id', 'in', ids).execute();
}

/** Marks builds as used now, so that `lockUnusedBuilds` skips them until the retention time has passed again. */
export async function markBuildsUsed(db: Database, ids: readonly string[], at: Date): Promise<void> {
  if (ids.length > 0) await db.updateTable('builds').set({ used_at: at }).where('id', 'in', ids).execute();
}

export function listBuildsInRemoval(db: Database, region: string): Promise<BuildRow[]> {
  return db.selectFrom('builds').selectAll().where('region', '=', region).where('removing', '=', true).execute();
}

export async function deleteBuild(db: Database, id: string): Promise<void> {
  await db.deleteFrom('builds').where('id', '=', id).where('removing', '=', true).execute();
}
