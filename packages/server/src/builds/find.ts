import type { Database } from '../store/tables.ts';
import { type BuildRow, useBuildRow } from './rows.ts';

/** A successful build that a deployment can use. */
export type UsableBuild = Pick<BuildRow, 'id' | 'content_hash'> & {
  readonly prepared: NonNullable<BuildRow['prepared']>;
};

/**
 * Finds a successful build of the organization and region, and locks it so that it cannot be removed before the
 * transaction ends. Afterwards, `removeUnused` sees that the build is in use. Null if there is no successful build.
 */
export async function useBuild(
  context: { db: Database; now: () => Date },
  scope: { readonly organizationId: string; readonly region: string },
  buildId: string,
): Promise<UsableBuild | null> {
  const row = await useBuildRow(context.db, { ...scope, id: buildId }, context.now());
  return row === undefined || row.prepared === null ? null : { ...row, prepared: row.prepared };
}
