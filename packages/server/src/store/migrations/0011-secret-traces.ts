import { type Kysely, sql } from 'kysely';

/** Keyed hashes of the secret values of a deployment, to mask them in logs. Migration 0018 drops them. */
export const secretHashesMigration = {
  name: '0011-secret-traces',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table deployment_traces (
      deployment_id uuid primary key references deployments on delete cascade,
      sealed bytea not null,
      used_at timestamptz not null
    )`.execute(db);
  },
};
