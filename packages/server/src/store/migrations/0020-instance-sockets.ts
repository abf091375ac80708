import { type Kysely, sql } from 'kysely';

/** Allows an instance to listen on a Unix socket. `host` and `port` are null for such an instance. */
export const instanceSocketsMigration = {
  name: '0020-instance-sockets',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw('alter table instances add column socket text').execute(db);
  },
};
