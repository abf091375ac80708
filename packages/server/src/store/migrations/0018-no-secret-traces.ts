import { type Kysely, sql } from 'kysely';

/** Removes the keyed hashes of secret values: logs are masked with the values that can be decrypted when they are read. */
export const noSecretTraces = {
  name: '0018-no-secret-traces',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`drop table deployment_traces`.execute(db);
  },
};
