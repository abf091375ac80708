import { type Kysely, sql } from 'kysely';

/** Stores public keys in plain text, because web pages contain them anyway. For private keys, only a hash is stored. */
export const plainTextPublicKeysMigration = {
  name: '0026-readable-public-keys',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql
      .raw(`alter table api_keys add column public_key text check (public_key is null or kind = 'public')`)
      .execute(db);
  },
};
