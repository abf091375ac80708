import { type Kysely, sql } from 'kysely';

/** Adds the keys of providers, and the rooms of sessions. */
export const roomsMigration = {
  name: '0053-rooms',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql
      .raw(`create table provider_keys (
        organization_id uuid not null references organizations,
        provider text not null,
        sealed bytea not null,
        key_version integer not null,
        account text not null,
        details jsonb not null,
        connected_at timestamptz not null,
        primary key (organization_id, provider)
      )`)
      .execute(db);
    await sql
      .raw(`create table session_rooms (
        session_id uuid primary key,
        organization_id uuid not null references organizations,
        provider text not null,
        name text not null,
        call_id text,
        sealed bytea,
        meetings jsonb not null default '[]',
        attempts integer not null default 0,
        delete_at timestamptz,
        deleted_at timestamptz,
        created_at timestamptz not null
      )`)
      .execute(db);
    await sql
      .raw('create index session_rooms_to_delete on session_rooms (delete_at) where delete_at is not null')
      .execute(db);
    await sql
      .raw(`create unique index session_rooms_by_call on session_rooms (organization_id, call_id)
        where call_id is not null`)
      .execute(db);
    await sql
      .raw('create index session_rooms_by_end on session_rooms (deleted_at) where deleted_at is not null')
      .execute(db);
    await sql
      .raw(`alter table sessions drop constraint sessions_transport_check,
        add constraint sessions_transport_check
          check (transport in ('none', 'webrtc', 'websocket', 'daily', 'livekit'))`)
      .execute(db);
  },
};
