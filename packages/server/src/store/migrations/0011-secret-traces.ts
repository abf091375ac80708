import { type Kysely, sql } from 'kysely';

/** By what the values that a deployment's bots were given are known in their logs, also when the values are gone. */
export const secretTraces = {
  name: '0011-secret-traces',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table deployment_traces (
      deployment_id uuid primary key references deployments on delete cascade,
      sealed bytea not null,
      used_at timestamptz not null
    )`.execute(db);
  },
};
