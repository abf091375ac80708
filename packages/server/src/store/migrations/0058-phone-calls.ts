import { type Kysely, sql } from 'kysely';

/** Adds the ids of answered phone calls to sessions, and a table of refused phone calls. */
export const phoneCallsMigration = {
  name: '0058-phone-calls',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table sessions add column phone_carrier text, add column phone_call text`.execute(db);
    await sql`create unique index sessions_by_phone_call on sessions (agent_id, phone_carrier, phone_call)
      where phone_call is not null`.execute(db);
    await sql`create index sessions_by_agent_phone on sessions (agent_id, created_at)
      where phone_call is not null`.execute(db);
    await sql`create table refused_calls (
      id uuid primary key,
      organization_id uuid not null references organizations (id),
      agent_id uuid references agents (id) on delete cascade,
      deployment_id uuid references deployments (id) on delete set null,
      agent_name text not null,
      carrier text not null,
      reason text not null,
      message text not null,
      at timestamptz not null
    )`.execute(db);
    await sql`create index refused_calls_by_organization on refused_calls (organization_id, at)`.execute(db);
    await sql`create index refused_calls_by_agent on refused_calls (agent_id, at)`.execute(db);
    await sql`create index refused_calls_by_time on refused_calls (at)`.execute(db);
  },
};
