import { type Insertable, type Selectable, sql } from 'kysely';
import type { Database, SecretDeliveriesTable } from '../store/tables.ts';

export type DeliveryRow = Selectable<SecretDeliveriesTable>;

export async function insertDelivery(db: Database, row: Insertable<SecretDeliveriesTable>): Promise<void> {
  await db.insertInto('secret_deliveries').values(row).execute();
}

export function findSecretDelivery(db: Database, setId: string, revision: number): Promise<DeliveryRow | undefined> {
  return db
    .selectFrom('secret_deliveries')
    .selectAll()
    .where('set_id', '=', setId)
    .where('revision', '=', revision)
    .executeTakeFirst();
}

/**
 * Returns the due deliveries of secret set revisions in a region, each with its organization id. Failed deliveries come last,
 * and otherwise the oldest comes first. A due time after `latest` also counts as due, because only a server with a wrong clock
 * can have stored such a time.
 */
export function listDueDeliveries(db: Database, region: string, when: { now: Date; latest: Date }, limit: number) {
  return db
    .selectFrom('secret_deliveries')
    .innerJoin('secret_sets', 'secret_sets.id', 'secret_deliveries.set_id')
    .selectAll('secret_deliveries')
    .select('secret_sets.organization_id')
    .where('secret_deliveries.region', '=', region)
    .where('state', '<>', 'ready')
    .where((where) => where.or([where('next_at', '<=', when.now), where('next_at', '>', when.latest)]))
    .orderBy(sql`state = 'failed'`)
    .orderBy('next_at')
    .limit(limit)
    .execute();
}

/** Stores the result of a delivery. A failed delivery is retried at `again`, or never if `again` is null. */
export async function recordDeliveryResult(
  db: Database,
  of: { readonly setId: string; readonly revision: number },
  end: {
    readonly state: 'ready' | 'failed';
    readonly error: string | null;
    readonly hostId: string;
    readonly at: Date;
    readonly again: Date | null;
  },
): Promise<void> {
  await db
    .updateTable('secret_deliveries')
    .set({ state: end.state, error: end.error, host_id: end.hostId, done_at: end.at, next_at: end.again })
    .$if(end.again !== null, (query) => query.set({ attempts: sql`attempts + 1` }))
    .where('set_id', '=', of.setId)
    .where('revision', '=', of.revision)
    .where('state', '<>', 'ready')
    .where('next_at', 'is not', null)
    .execute();
}

export async function postponeDelivery(
  db: Database,
  of: { readonly setId: string; readonly revision: number },
  until: Date,
): Promise<void> {
  await db
    .updateTable('secret_deliveries')
    .set({ attempts: sql`attempts + 1`, next_at: until })
    .where('set_id', '=', of.setId)
    .where('revision', '=', of.revision)
    .where('state', '=', 'pending')
    .execute();
}

export async function retrySecretDelivery(
  db: Database,
  of: { readonly setId: string; readonly revision: number },
  at: Date,
): Promise<void> {
  await db
    .updateTable('secret_deliveries')
    .set({ state: 'pending', error: null, attempts: 0, created_at: at, next_at: at, host_id: null, done_at: null })
    .where('set_id', '=', of.setId)
    .where('revision', '=', of.revision)
    .where('state', '=', 'failed')
    .execute();
}

/** Deliveries that are pending since before `since`, oldest first, of only the newest revision of each set. */
export function listDeliveriesPendingSince(db: Database, since: Date, limit: number) {
  return db
    .selectFrom('secret_deliveries')
    .innerJoin('secret_sets', (join) =>
      join
        .onRef('secret_sets.id', '=', 'secret_deliveries.set_id')
        .onRef('secret_sets.revision', '=', 'secret_deliveries.revision'),
    )
    .innerJoin('organizations', 'organizations.id', 'secret_sets.organization_id')
    .select(['organizations.name as organization', 'secret_sets.name', 'secret_deliveries.revision'])
    .select(['secret_deliveries.region', 'secret_deliveries.attempts', 'secret_deliveries.created_at'])
    .where('secret_deliveries.state', '=', 'pending')
    .where('secret_deliveries.created_at', '<', since)
    .orderBy('secret_deliveries.created_at')
    .limit(limit)
    .execute();
}
