import { type Kysely, sql } from 'kysely';

/** Lets a deployment disable forking of its instances. */
export const deploymentForkSettingMigration = {
  name: '0019-fork',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw('alter table deployments add column fork boolean not null default true').execute(db);
  },
};
