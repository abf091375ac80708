import { sql } from 'kysely';
import type { Database } from '../store/tables.ts';
import type { RevisionRow } from './rows.ts';

/** The sets of an organization by name, with how the delivery and the last check of their newest revision went. */
export function setsWithDelivery(db: Database, organizationId: string) {
  return db
    .selectFrom('secret_sets')
    .leftJoin('secret_deliveries', (join) =>
      join
        .onRef('secret_deliveries.set_id', '=', 'secret_sets.id')
        .onRef('secret_deliveries.revision', '=', 'secret_sets.revision'),
    )
    .leftJoin('pull_secret_checks', (join) =>
      join
        .onRef('pull_secret_checks.set_id', '=', 'secret_sets.id')
        .onRef('pull_secret_checks.revision', '=', 'secret_sets.revision'),
    )
    .selectAll('secret_sets')
    .select(['secret_deliveries.state', 'secret_deliveries.error'])
    .select(['pull_secret_checks.result', 'pull_secret_checks.message', 'pull_secret_checks.image'])
    .select(['pull_secret_checks.checked_at', 'pull_secret_checks.stamp as check_stamp'])
    .where('secret_sets.organization_id', '=', organizationId)
    .orderBy(sql`lower(secret_sets.name)`)
    .execute();
}

/** The rows that sets of an organization name as their newest revisions, by set. */
export async function newestRevisionRows(
  db: Database,
  organizationId: string,
): Promise<ReadonlyMap<string, RevisionRow>> {
  const rows = await db
    .selectFrom('secret_revisions')
    .innerJoin('secret_sets', (join) =>
      join
        .onRef('secret_sets.id', '=', 'secret_revisions.set_id')
        .onRef('secret_sets.revision', '=', 'secret_revisions.revision'),
    )
    .selectAll('secret_revisions')
    .where('secret_sets.organization_id', '=', organizationId)
    .execute();
  return new Map(rows.map((row) => [row.set_id, row]));
}

/** The revisions that are there of each set of an organization, in order. */
export async function revisionsOfSets(
  db: Database,
  organizationId: string,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const rows = await db
    .selectFrom('secret_revisions')
    .innerJoin('secret_sets', 'secret_sets.id', 'secret_revisions.set_id')
    .select('secret_revisions.set_id')
    .select(sql<number[]>`array_agg(secret_revisions.revision order by secret_revisions.revision)`.as('revisions'))
    .where('secret_sets.organization_id', '=', organizationId)
    .groupBy('secret_revisions.set_id')
    .execute();
  return new Map(rows.map(({ set_id: id, revisions }) => [id, revisions]));
}
