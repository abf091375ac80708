import { type Kysely, sql } from 'kysely';

/** Secret sets, the keys that encrypt them, their delivery, and the audit log. */
export const secretsMigration = {
  name: '0010-secrets',
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create table vault_state (
    one boolean primary key default true check (one),
    root_key_id text not null,
    canary bytea not null,
    created_at timestamptz not null
  )`,
  `create table vault_keys (
    organization_id uuid not null references organizations,
    purpose text not null check (purpose in ('value', 'fingerprint', 'stamp')),
    version integer not null check (version >= 1),
    root_key_id text not null,
    wrapped bytea not null,
    created_at timestamptz not null,
    primary key (organization_id, purpose, version)
  )`,
  `create table vault_tasks (
    id uuid primary key,
    task text not null check (task in ('rekey', 'rotate', 'reencrypt', 'verify')),
    organization_id uuid references organizations,
    state text not null check (state in ('running', 'done')),
    done integer not null,
    total integer not null,
    findings jsonb not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    ended_at timestamptz,
    check ((state = 'done') = (ended_at is not null))
  )`,
  `create unique index vault_tasks_running on vault_tasks (task) where state = 'running'`,
  `create table secret_sets (
    id uuid primary key,
    organization_id uuid not null references organizations,
    name text not null,
    kind text not null check (kind in ('secret', 'imagePullSecret')),
    region text not null,
    host text check (kind = 'imagePullSecret' or host is null),
    revision integer not null check (revision >= 0),
    revisions integer[] not null,
    stamp bytea not null,
    created_at timestamptz not null,
    updated_at timestamptz not null
  )`,
  `create unique index secret_sets_one on secret_sets (organization_id, lower(name))`,
  `create table secret_revisions (
    set_id uuid not null references secret_sets on delete cascade,
    revision integer not null check (revision >= 1),
    action text not null check (action in ('set', 'replace', 'unset', 'rollback')),
    rolled_back_to integer,
    host text,
    entries jsonb not null,
    added jsonb not null,
    changed jsonb not null,
    removed jsonb not null,
    expires_at timestamptz,
    created_by_key_id uuid,
    created_at timestamptz not null,
    stamp bytea not null,
    primary key (set_id, revision)
  )`,
  `create table secret_values (
    set_id uuid not null references secret_sets on delete cascade,
    key text not null,
    revision integer not null,
    sealed bytea not null,
    key_version integer not null,
    fingerprint bytea not null,
    fingerprint_version integer not null,
    bytes integer not null,
    created_at timestamptz not null,
    primary key (set_id, key, revision)
  )`,
  `create table secret_deliveries (
    set_id uuid not null,
    revision integer not null,
    region text not null,
    state text not null check (state in ('pending', 'ready', 'failed')),
    attempts integer not null default 0,
    error text,
    host_id uuid,
    created_at timestamptz not null,
    next_at timestamptz not null,
    done_at timestamptz,
    primary key (set_id, revision),
    foreign key (set_id, revision) references secret_revisions on delete cascade,
    check ((state = 'failed') = (error is not null)),
    check ((state = 'pending') = (done_at is null))
  )`,
  `create index secret_deliveries_pending on secret_deliveries (region, next_at) where state = 'pending'`,
  `create table pull_secret_checks (
    set_id uuid not null,
    revision integer not null,
    result text not null check (result in ('verified', 'rejected', 'unreachable', 'skipped')),
    message text not null,
    image text,
    checked_at timestamptz not null,
    primary key (set_id, revision),
    foreign key (set_id, revision) references secret_revisions on delete cascade
  )`,
  `create table audit_events (
    organization_id uuid not null references organizations,
    sequence bigint not null check (sequence >= 1),
    at timestamptz not null,
    actor_key_id uuid,
    actor_key_name text,
    address text,
    request_id text,
    action text not null,
    object text,
    region text,
    keys jsonb not null,
    revision_before integer,
    revision_after integer,
    result text not null,
    count integer not null check (count >= 1),
    previous_hash bytea not null,
    hash bytea not null,
    primary key (organization_id, sequence)
  )`,
  `create index audit_events_at on audit_events (organization_id, at)`,
  // Checkpoints: for each organization, the newest of the audit entries that retention removed. The hash chain of the remaining
  // entries continues from the hash in the checkpoint.
  `create table audit_checkpoints (
    organization_id uuid primary key references organizations,
    sequence bigint not null check (sequence >= 1),
    hash bytea not null
  )`,
  // Makes the audit log append-only, even for the role of the service. Only entries up to the checkpoint of the organization
  // (in `audit_checkpoints`) can be deleted.
  `create function audit_events_stay() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' and exists (select from audit_checkpoints
        where organization_id = old.organization_id and sequence >= old.sequence) then return old; end if;
      raise exception 'audit events are never changed or removed' using errcode = 'restrict_violation';
    end $$`,
  `create trigger audit_events_stay before update or delete on audit_events
    for each row execute function audit_events_stay()`,
  `create trigger audit_events_stay_all before truncate on audit_events
    for each statement execute function audit_events_stay()`,
  `create function audit_checkpoints_advance() returns trigger language plpgsql as $$
    begin
      if tg_op in ('INSERT', 'UPDATE') then
        if (tg_op = 'INSERT' or (new.sequence > old.sequence and new.organization_id = old.organization_id))
          and exists (select from audit_events where organization_id = new.organization_id
            and sequence = new.sequence and hash = new.hash) then return new; end if;
      end if;
      raise exception 'an audit checkpoint only goes on, to an entry that is there' using errcode = 'restrict_violation';
    end $$`,
  `create trigger audit_checkpoints_advance before insert or update or delete on audit_checkpoints
    for each row execute function audit_checkpoints_advance()`,
  `create trigger audit_checkpoints_advance_all before truncate on audit_checkpoints
    for each statement execute function audit_checkpoints_advance()`,
];
