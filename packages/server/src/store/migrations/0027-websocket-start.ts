import { type Kysely, sql } from 'kysely';

/** Lets an agent limit the fields of the response to a session start with the transport `websocket`. */
export const websocketStartMigration = {
  name: '0027-websocket-start',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql
      .raw(`alter table deployments add column websocket_start text not null default 'full'
        check (websocket_start in ('full', 'minimal'))`)
      .execute(db);
  },
};
