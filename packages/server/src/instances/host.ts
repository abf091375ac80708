import { sql } from 'kysely';
import type { Database } from '../store/tables.ts';

/** Who runs the instances of a region: for `process`, one data directory. */
export type Host = { readonly id: string; readonly region: string };

const aliveMilliseconds = 60_000;

/**
 * Writes this host down as the one of its region. The caller holds the region's lock, so no other is alive; what another
 * one left behind becomes ours to end. Returns the last sign of life of whoever was there before, null for a new region,
 * and whether no server of another region has given one in the last minute.
 */
export async function takeRegion(
  context: { db: Database; now: () => Date },
  host: Host & { readonly runtime: string; readonly description: string },
): Promise<{ readonly lastHeartbeat: Date | null; readonly isAlone: boolean }> {
  return context.db.transaction().execute(async (db) => {
    const before = await db
      .selectFrom('hosts')
      .select('heartbeat_at')
      .where('region', '=', host.region)
      .executeTakeFirst();
    // Its first own sign of life comes later: were this server killed before it has ended what the one before relayed, the
    // next could not tell any more when that was.
    await db
      .insertInto('hosts')
      .values({ ...host, heartbeat_at: context.now() })
      .onConflict((conflict) => conflict.column('region').doUpdateSet(host))
      .execute();
    const others = await otherRegions({ db, now: context.now }, host.region);
    return { lastHeartbeat: before?.heartbeat_at ?? null, isAlone: others.length === 0 };
  });
}

/** The regions, but for one, whose servers gave a sign of life in the last minute. */
export async function otherRegions(
  { db, now }: { readonly db: Database; readonly now: () => Date },
  region: string,
): Promise<string[]> {
  const others = await db
    .selectFrom('hosts')
    .select('region')
    .where('region', '<>', region)
    .where('heartbeat_at', '>', new Date(now().getTime() - aliveMilliseconds))
    .orderBy('region')
    .execute();
  return others.map((host) => host.region);
}

/**
 * Takes a new region back whose first server did not come to run, so that nobody deploys to it. It stays when somebody has
 * already, or has it as the default.
 */
export async function forgetRegion(db: Database, { id, region }: Host): Promise<void> {
  await db
    .deleteFrom('hosts')
    .where('id', '=', id)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('agents').select('id').where('agents.region', '=', region))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('organizations').select('id').where('default_region', '=', region))),
    )
    .execute();
}

/** The sign of life, each second. Losing the last one costs a second of truth, so it does not wait for the disk. */
export async function beat(context: { db: Database; now: () => Date }, host: Host): Promise<void> {
  await context.db.transaction().execute(async (db) => {
    await sql`set local synchronous_commit = off`.execute(db);
    await db.updateTable('hosts').set({ heartbeat_at: context.now() }).where('id', '=', host.id).execute();
  });
}
