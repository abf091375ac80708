import { type Kysely, sql } from 'kysely';

/** Uploads, builds and their logs. */
export const buildsMigration = {
  name: '0002-builds',
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create table uploads (
    id uuid primary key,
    organization_id uuid not null references organizations,
    region text not null,
    announced boolean not null,
    state text not null check (state in ('open', 'complete')),
    content_hash text,
    context_hash text,
    size_bytes bigint,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    check (not announced or (content_hash is not null and size_bytes is not null)),
    check (state = 'open' or (content_hash is not null and context_hash is not null and size_bytes is not null))
  )`,
  `create unique index uploads_announced on uploads (organization_id, region, content_hash, size_bytes) where announced`,
  `create index uploads_open on uploads (organization_id) where state = 'open'`,
  `create index on uploads (updated_at)`,
  `create table builds (
    id uuid primary key,
    organization_id uuid not null references organizations,
    region text not null,
    upload_id uuid not null references uploads,
    content_hash text not null,
    context_hash text not null,
    size_bytes bigint not null,
    dockerfile_path text not null,
    state text not null check (state in ('pending', 'building', 'success', 'failed', 'timeout')),
    error_code text,
    error text,
    prepared json,
    removing boolean not null default false,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    started_at timestamptz,
    completed_at timestamptz,
    used_at timestamptz not null,
    check ((state = 'success') = (prepared is not null)),
    check ((state in ('success', 'failed', 'timeout')) = (completed_at is not null))
  )`,
  `create unique index builds_one on builds (organization_id, region, content_hash)
    where state in ('pending', 'building', 'success') and not removing`,
  `create index builds_newest on builds (organization_id, created_at desc, id desc)`,
  `create index builds_open on builds (region) where state in ('pending', 'building')`,
  `create index builds_used on builds (used_at)`,
  `create index on builds (upload_id)`,
  `create table build_log_lines (
    build_id uuid not null references builds on delete cascade,
    line integer not null,
    at timestamptz not null,
    text text not null,
    primary key (build_id, line)
  )`,
];
