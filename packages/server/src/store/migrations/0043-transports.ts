import { type Kysely, sql } from 'kysely';

/** Adds the transports that the bot of a deployment accepts. */
export const transportsMigration = {
  name: '0043-transports',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw('alter table deployments add column transports jsonb').execute(db);
  },
};
