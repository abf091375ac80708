import { type Kysely, sql } from 'kysely';

/** Adds a setting per organization that allows viewers to start sessions with their account. */
export const viewersStartSessionsMigration = {
  name: '0042-viewers-start-sessions',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql
      .raw('alter table organizations add column viewers_can_start_sessions boolean not null default false')
      .execute(db);
  },
};
