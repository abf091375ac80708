import { type Kysely, sql } from 'kysely';

/** Adds the alerts of agents, each with its open incident. */
export const alertsMigration = {
  name: '0055-alerts',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql
      .raw(`create table alerts (
        id uuid primary key,
        agent_id uuid not null references agents,
        kind text not null,
        threshold integer,
        window_minutes integer,
        created_at timestamptz not null,
        incident_id uuid,
        opened_at timestamptz check ((opened_at is null) = (incident_id is null)),
        opened_value integer
      )`)
      .execute(db);
    await sql.raw('create index alerts_of_agent on alerts (agent_id)').execute(db);
  },
};
