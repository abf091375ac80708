import { type Kysely, sql } from 'kysely';

/** Stores the progress of key rotations, and when failed deliveries of secrets are retried. */
export const secretMaintenanceProgressMigration = {
  name: '0013-secret-work',
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  // `reached` is the id of the last processed organization. Organizations are processed in the order of their ids.
  `alter table vault_tasks add column reached uuid`,
  // `next_at` is null if no retry is scheduled.
  `alter table secret_deliveries alter column next_at drop not null`,
  `update secret_deliveries set next_at = null where state <> 'pending'`,
  `alter table secret_deliveries add check (state <> 'pending' or next_at is not null)`,
  `create index secret_deliveries_due on secret_deliveries (region, next_at) where next_at is not null`,
  `drop index secret_deliveries_pending`,
];
