import { type Kysely, sql } from 'kysely';

/** Stores public keys readable, because web pages contain them anyway. Private keys have only a hash. */
export const readablePublicKeys = {
  name: '0026-readable-public-keys',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql
      .raw(`alter table api_keys add column public_key text check (public_key is null or kind = 'public')`)
      .execute(db);
  },
};
