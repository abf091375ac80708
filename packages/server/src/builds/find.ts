import type { Database } from '../store/tables.ts';
import { type BuildRow, findBuildRow, lockSuccessfulBuild } from './rows.ts';

/** A successful build that a deployment can use. */
export type UsableBuild = Pick<BuildRow, 'id' | 'content_hash'> & {
  readonly prepared: NonNullable<BuildRow['prepared']>;
};

/** Marks a successful build as used and locks its row, so that `removeUnusedBuilds` keeps it. Null if there is none. */
export async function lockUsableBuild(
  context: { db: Database; now: () => Date },
  scope: { readonly organizationId: string; readonly region: string },
  buildId: string,
): Promise<UsableBuild | null> {
  const row = await lockSuccessfulBuild(context.db, { ...scope, id: buildId }, context.now());
  return row === undefined || row.prepared === null ? null : { ...row, prepared: row.prepared };
}

/** Finds the archive of a build. Null if the build does not exist or is being removed. */
export async function findBuildArchive(
  context: { readonly db: Database; readonly archivePath: (uploadId: string) => string },
  organizationId: string,
  buildId: string,
): Promise<{ readonly path: string; readonly bytes: number } | null> {
  const build = await findBuildRow(context.db, organizationId, buildId);
  return build === undefined ? null : { path: context.archivePath(build.upload_id), bytes: build.size_bytes };
}
