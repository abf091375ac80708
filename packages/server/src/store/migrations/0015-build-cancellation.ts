import { type Kysely, sql } from 'kysely';

/**
 * Allows builds to be canceled. Counts unfinished attempts, so that a build is not restarted after two servers were
 * killed while it ran.
 */
export const buildCancellationMigration = {
  name: '0015-build-cancellation',
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `alter table builds
    add column cancel_requested_at timestamptz,
    add column unfinished_attempts integer not null default 0,
    drop constraint builds_state_check,
    add constraint builds_state_check
      check (state in ('pending', 'building', 'success', 'failed', 'timeout', 'canceled')),
    drop constraint builds_check1,
    add constraint builds_completed_check
      check ((state in ('success', 'failed', 'timeout', 'canceled')) = (completed_at is not null))`,
  // The new unique index excludes builds that are being canceled, so that a new build with the same content hash can be created
  // immediately.
  `drop index builds_one`,
  `create unique index builds_one on builds (organization_id, region, content_hash)
    where state in ('pending', 'building', 'success') and not removing and cancel_requested_at is null`,
];
