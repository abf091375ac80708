import { type Kysely, sql } from 'kysely';

/**
 * Adds deployments of container images. `image_pull_secret` is the name of the set, because each pull uses its newest revision.
 * Until now, every region prepared projects itself, so `build` is true for the rows that exist.
 */
export const imagesMigration = {
  name: '0050-images',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table hosts add column accepts text not null default 'build'
      check (accepts in ('build', 'image'))`.execute(db);
    await sql`alter table deployments add column image_digest text, add column image_pull_secret text,
      add column image_layers json`.execute(db);
  },
};
