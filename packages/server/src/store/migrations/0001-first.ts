import { type Kysely, sql } from 'kysely';

/** Organizations, keys, agents, deployments, instances, sessions and their metrics. */
export const initialSchemaMigration = {
  name: '0001-first',
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create table organizations (
    id uuid primary key,
    name text not null unique,
    verbose_name text not null,
    default_region text not null,
    created_at timestamptz not null
  )`,
  `create table api_keys (
    id uuid primary key,
    organization_id uuid not null references organizations,
    kind text not null check (kind in ('private', 'public')),
    name text not null,
    start text not null,
    hash bytea not null unique,
    created_at timestamptz not null,
    expires_at timestamptz,
    last_used_at timestamptz,
    revoked_at timestamptz
  )`,
  `create index on api_keys (organization_id, created_at)`,
  `create table hosts (
    id uuid primary key,
    region text not null unique,
    runtime text not null,
    description text not null,
    heartbeat_at timestamptz not null
  )`,
  `create table agents (
    id uuid primary key,
    organization_id uuid not null references organizations,
    name text not null,
    region text not null,
    desired_deployment_id uuid,
    active_deployment_id uuid,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    deleted_at timestamptz
  )`,
  `create unique index on agents (organization_id, name) where deleted_at is null`,
  `create table deployments (
    id uuid primary key,
    agent_id uuid not null references agents,
    source json not null,
    state text not null check (state in ('preparing', 'ready', 'failed')),
    error text,
    prepared json,
    min_agents integer not null check (min_agents >= 0),
    max_agents integer not null check (max_agents >= 1),
    profile text not null,
    max_session_seconds integer not null,
    websocket_auth text not null check (websocket_auth in ('none', 'token')),
    created_at timestamptz not null,
    updated_at timestamptz not null
  )`,
  `create index on deployments (agent_id, created_at)`,
  `create table sessions (
    id uuid primary key,
    organization_id uuid not null references organizations,
    agent_id uuid not null references agents,
    deployment_id uuid not null references deployments,
    state text not null check (state in ('waiting', 'starting', 'live', 'ending', 'ended')),
    transport text not null check (transport in ('none', 'webrtc', 'websocket')),
    body text,
    relay_id uuid,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    requested_at timestamptz,
    claimed_at timestamptz,
    ready_at timestamptz,
    handed_over_at timestamptz,
    bot_started_at timestamptz,
    cold_start boolean,
    ending_status text,
    completion_status text,
    ended_at timestamptz,
    events jsonb not null default '[]',
    check ((state = 'ended') = (ended_at is not null)),
    check ((state = 'ended') = (completion_status is not null))
  )`,
  `create index sessions_newest on sessions (agent_id, created_at desc, id desc)`,
  `create index sessions_open on sessions (agent_id) where state <> 'ended'`,
  `create index sessions_ended on sessions (ended_at) where state = 'ended'`,
  `create table instances (
    id uuid primary key,
    deployment_id uuid not null references deployments,
    agent_id uuid not null references agents,
    host_id uuid not null references hosts on update cascade,
    session_id uuid unique references sessions on delete set null,
    state text not null check (state in ('starting', 'ready', 'stopping', 'ended')),
    host text,
    port integer,
    reports_session boolean not null default false,
    notices jsonb not null default '[]',
    created_at timestamptz not null,
    ready_at timestamptz,
    ended_at timestamptz,
    check ((state = 'ended') = (ended_at is not null))
  )`,
  `create index instances_open on instances (deployment_id) where state <> 'ended'`,
  `create index instances_occupied on instances (agent_id) where state <> 'ended'`,
  `create index instances_ended on instances (ended_at) where state = 'ended'`,
  `create table session_samples (
    session_id uuid not null references sessions on delete cascade,
    first_at timestamptz not null,
    samples json not null,
    primary key (session_id, first_at)
  )`,
  `create table session_metrics (
    session_id uuid primary key references sessions on delete cascade,
    id uuid not null,
    sample_count integer not null,
    cpu_p50 integer not null,
    cpu_p90 integer not null,
    cpu_p95 integer not null,
    cpu_p99 integer not null,
    memory_p50 bigint not null,
    memory_p90 bigint not null,
    memory_p95 bigint not null,
    memory_p99 bigint not null,
    timeseries json not null,
    event_at timestamptz not null,
    created_at timestamptz not null
  )`,
];
