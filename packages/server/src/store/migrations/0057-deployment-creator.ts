import { type Kysely, sql } from 'kysely';

/** Adds the name of the person or the API key that created a deployment. */
export const deploymentCreatorMigration = {
  name: '0057-deployment-creator',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table deployments add column created_by text`.execute(db);
  },
};
