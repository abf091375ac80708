import { type Kysely, sql } from 'kysely';

/** An instance can listen on a Unix socket. `host` and `port` are null then. */
export const instanceSockets = {
  name: '0020-instance-sockets',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw('alter table instances add column socket text').execute(db);
  },
};
