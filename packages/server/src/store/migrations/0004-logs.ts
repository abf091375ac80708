import { type Kysely, sql } from 'kysely';

/** The stored output of ended instances. */
export const logsMigration = {
  name: '0004-logs',
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  // Has no foreign keys to instances and sessions, because those may be removed earlier.
  `create table instance_logs (
    instance_id uuid primary key,
    agent_id uuid not null references agents,
    deployment_id uuid not null references deployments,
    session_id uuid,
    host_id uuid not null references hosts on update cascade,
    begins_at timestamptz not null,
    ends_at timestamptz not null,
    bytes bigint not null check (bytes >= 0),
    dropped_bytes bigint not null check (dropped_bytes >= 0),
    stored_at timestamptz not null
  )`,
  `create index instance_logs_by_begin on instance_logs (agent_id, begins_at, instance_id)`,
  `create index instance_logs_by_end on instance_logs (agent_id, ends_at, instance_id)`,
  `create index instance_logs_of_session on instance_logs (session_id) where session_id is not null`,
  `create index instance_logs_without_session on instance_logs (deployment_id, ends_at) where session_id is null`,
  `create index instance_logs_age on instance_logs (host_id, ends_at)`,
];
