import { type Kysely, sql } from 'kysely';

/** Adds whether a region records the CPU and memory of sessions. Without a setting of Kubernetes, every region does. */
export const hostsReadUsageMigration = {
  name: '0065-hosts-read-usage',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table hosts add column reads_usage boolean not null default true`.execute(db);
  },
};
