import { type Kysely, sql } from 'kysely';

/** Adds a setting for the response to a start with the transport `websocket`: `minimal` omits the session id and the body. */
export const websocketStartMigration = {
  name: '0027-websocket-start',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql
      .raw(`alter table deployments add column websocket_start text not null default 'full'
        check (websocket_start in ('full', 'minimal'))`)
      .execute(db);
  },
};
