import { type Kysely, sql } from 'kysely';

/**
 * Removes the keyed hashes of secret values. Logs are now masked with the secret values that can be decrypted when a log is read.
 */
export const dropSecretHashesMigration = {
  name: '0018-no-secret-traces',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`drop table deployment_traces`.execute(db);
  },
};
