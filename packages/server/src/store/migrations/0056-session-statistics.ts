import { type Kysely, sql } from 'kysely';

/** Adds counts and latency histograms of sessions per half an hour, and an index that finds failed sessions. */
export const sessionStatisticsMigration = {
  name: '0056-session-statistics',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql
      .raw(`create table session_statistics (
        organization_id uuid not null references organizations,
        from_at timestamptz not null,
        agent_id uuid not null references agents,
        deployment_id uuid not null references deployments,
        sessions integer not null,
        failed integer not null,
        open_at_most integer not null,
        start_bins integer[] not null,
        start_counts integer[] not null,
        response_bins integer[] not null,
        response_counts integer[] not null,
        primary key (organization_id, from_at, agent_id, deployment_id)
      )`)
      .execute(db);
    await sql.raw('create index session_statistics_newest on session_statistics (from_at)').execute(db);
    await sql
      .raw(`create index sessions_failed on sessions (organization_id, created_at desc, id desc)
        where (completion_status in ('HTTP_ERROR', 'SERVICE_INTERRUPTED', 'BOT_START_TIMEOUT')
          or completion_status ~ '^[0-9]{3}$')`)
      .execute(db);
  },
};
