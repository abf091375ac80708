import type { Database } from '../store/tables.ts';
import { type BuildRow, lockSuccessfulBuild } from './rows.ts';

/** A successful build that a deployment can use. */
export type UsableBuild = Pick<BuildRow, 'id' | 'content_hash'> & {
  readonly prepared: NonNullable<BuildRow['prepared']>;
};

/**
 * Finds a successful build, marks it as used and locks its row, so that `removeUnusedBuilds` keeps the build. Null if no
 * successful build has this id.
 */
export async function lockUsableBuild(
  context: { db: Database; now: () => Date },
  scope: { readonly organizationId: string; readonly region: string },
  buildId: string,
): Promise<UsableBuild | null> {
  const row = await lockSuccessfulBuild(context.db, { ...scope, id: buildId }, context.now());
  return row === undefined || row.prepared === null ? null : { ...row, prepared: row.prepared };
}
