import { sql } from 'kysely';
import type { Database } from '../store/tables.ts';
import type { RevisionRow } from './rows.ts';

/** Secret sets by name, with the delivery and the last registry check of their newest revision. */
export function listSecretSetsAndDeliveries(db: Database, organizationId: string) {
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
    .select('pull_secret_checks.checked_at')
    .where('secret_sets.organization_id', '=', organizationId)
    .orderBy(sql`lower(secret_sets.name)`)
    .execute();
}

/** The newest revision of each secret set of an organization, by the id of the set. */
export async function listNewestRevisions(
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
