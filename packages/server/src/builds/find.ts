import type { Database } from '../store/tables.ts';
import { type BuildRow, useBuildRow } from './rows.ts';

/** A build that has succeeded, as those see it that deploy it. */
export type UsableBuild = Pick<BuildRow, 'id' | 'content_hash'> & {
  readonly prepared: NonNullable<BuildRow['prepared']>;
};

/**
 * A build of the organization and region that has succeeded, else null. In a transaction it is kept from being removed until
 * that ends; from then on it is among those in use (`removeUnused`).
 */
export async function useBuild(
  context: { db: Database; now: () => Date },
  scope: { readonly organizationId: string; readonly region: string },
  buildId: string,
): Promise<UsableBuild | null> {
  const row = await useBuildRow(context.db, { ...scope, id: buildId }, context.now());
  return row === undefined || row.prepared === null ? null : { ...row, prepared: row.prepared };
}
