import { type Kysely, sql } from 'kysely';

/** How far a rotation of organizations' keys has come, and which deliveries that failed are still tried. */
export const secretWork = {
  name: '0013-secret-work',
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  // Organizations are rotated in the order of their ids, up to and with this one.
  `alter table vault_tasks add column reached uuid`,
  // Null: it is not tried again.
  `alter table secret_deliveries alter column next_at drop not null`,
  `update secret_deliveries set next_at = null where state <> 'pending'`,
  `alter table secret_deliveries add check (state <> 'pending' or next_at is not null)`,
  `create index secret_deliveries_due on secret_deliveries (region, next_at) where next_at is not null`,
  `drop index secret_deliveries_pending`,
];
