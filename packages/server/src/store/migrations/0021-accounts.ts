import { type Kysely, sql } from 'kysely';

/**
 * People with their sessions, credentials and tokens, their roles in organizations, and one-time links. The library
 * better-auth reads and writes `users`, `user_sessions`, `user_credentials`, `auth_verifications` and `device_logins`.
 */
export const accountsMigration = {
  name: '0021-accounts',
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create table users (
    id uuid primary key,
    email text not null unique check (email = lower(email)),
    email_verified boolean not null default false,
    name text not null,
    image text,
    created_at timestamptz not null,
    updated_at timestamptz not null
  )`,
  `create table user_sessions (
    id uuid primary key,
    user_id uuid not null references users on delete cascade,
    token text not null unique,
    expires_at timestamptz not null,
    ip_address text,
    user_agent text,
    created_at timestamptz not null,
    updated_at timestamptz not null
  )`,
  'create index on user_sessions (user_id)',
  `create table user_credentials (
    id uuid primary key,
    user_id uuid not null references users on delete cascade,
    provider_id text not null,
    account_id text not null,
    password text,
    access_token text,
    refresh_token text,
    id_token text,
    access_token_expires_at timestamptz,
    refresh_token_expires_at timestamptz,
    scope text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    unique (provider_id, account_id)
  )`,
  'create index on user_credentials (user_id)',
  `create table auth_verifications (
    id uuid primary key,
    identifier text not null,
    value text not null,
    expires_at timestamptz not null,
    created_at timestamptz not null,
    updated_at timestamptz not null
  )`,
  'create index on auth_verifications (identifier)',
  `create table device_logins (
    id uuid primary key,
    device_code text not null unique,
    user_code text not null unique,
    user_id uuid references users on delete cascade,
    status text not null,
    expires_at timestamptz not null,
    last_polled_at timestamptz,
    polling_interval integer,
    client_id text,
    scope text,
    device_name text,
    address text
  )`,
  `create table personal_tokens (
    id uuid primary key,
    user_id uuid not null references users on delete cascade,
    created_by text not null check (created_by in ('person', 'device-login')),
    name text not null,
    start text not null,
    hash bytea not null unique,
    created_at timestamptz not null,
    expires_at timestamptz,
    last_used_at timestamptz
  )`,
  'create index on personal_tokens (user_id)',
  'alter table organizations add column deleted_at timestamptz',
  `create table organization_members (
    organization_id uuid not null references organizations,
    user_id uuid not null references users on delete cascade,
    role text not null check (role in ('owner', 'member', 'viewer')),
    created_at timestamptz not null,
    primary key (organization_id, user_id)
  )`,
  'create index on organization_members (user_id)',
  `create table one_time_links (
    id uuid primary key,
    purpose text not null check (purpose in ('invitation', 'password-reset')),
    hash bytea not null unique,
    organization_id uuid references organizations,
    role text check (role in ('owner', 'member', 'viewer')),
    email text,
    user_id uuid references users on delete cascade,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    check ((purpose = 'invitation') = (organization_id is not null and role is not null)),
    check ((purpose = 'password-reset') = (user_id is not null))
  )`,
  'create index on one_time_links (organization_id)',
  // This table is unlogged: if a crash of the database loses its rows, only rate limits are reset.
  `create unlogged table rate_limits (
    key text primary key,
    tokens double precision not null,
    updated_at timestamptz not null
  )`,
  'alter table audit_events add column actor_user_id uuid, add column actor_user_email text',
];
