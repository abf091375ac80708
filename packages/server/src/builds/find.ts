import type { Database } from '../store/tables.ts';
import { type BuildRow, useBuildRow } from './rows.ts';

/** A successful build, for a deployment. */
export type UsableBuild = Pick<BuildRow, 'id' | 'content_hash'> & {
  readonly prepared: NonNullable<BuildRow['prepared']>;
};

/**
 * A successful build of the organization and region, else null. It cannot be removed until the transaction ends; from then on
 * it is in use (`removeUnused`).
 */
export async function useBuild(
  context: { db: Database; now: () => Date },
  scope: { readonly organizationId: string; readonly region: string },
  buildId: string,
): Promise<UsableBuild | null> {
  const row = await useBuildRow(context.db, { ...scope, id: buildId }, context.now());
  return row === undefined || row.prepared === null ? null : { ...row, prepared: row.prepared };
}
