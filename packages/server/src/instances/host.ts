import type { DeploySource } from '@bothost/contract';
import { sql } from 'kysely';
import { OperatorError } from '../operator-error.ts';
import type { Database } from '../store/tables.ts';
import { commitWithoutWaiting } from '../store/transaction.ts';

/** The host of a region's instances. The process driver treats each data directory as a host. */
export type RegionHost = { readonly id: string; readonly region: string };

const hostHeartbeatTimeoutMs = 60_000;

/**
 * Records this host as the host of its region. The caller holds the lock of the region, so no other server of the region is
 * running. `lastHeartbeat` is the last heartbeat of the region's previous server process, or null in a new region. `isAlone` is
 * true if no server of another region has sent a heartbeat in the last minute.
 */
export async function registerHost(
  context: { db: Database; now: () => Date },
  host: RegionHost & {
    readonly runtime: string;
    readonly accepts: DeploySource;
    readonly reads_usage: boolean;
    readonly description: string;
  },
): Promise<{ readonly lastHeartbeat: Date | null; readonly isAlone: boolean }> {
  return context.db.transaction().execute(async (db) => {
    const before = await db
      .selectFrom('hosts')
      .select(['id', 'runtime', 'heartbeat_at'])
      .where('region', '=', host.region)
      .executeTakeFirst();
    if (before !== undefined && before.runtime !== host.runtime) await requireNoInstances(db, before, host.runtime);
    // Keep the last heartbeat of the previous server process, because it becomes the end time of the sessions of that process.
    // Overwriting the heartbeat now would lose this end time if the server is killed before these sessions are ended.
    await db
      .insertInto('hosts')
      .values({ ...host, heartbeat_at: context.now() })
      .onConflict((conflict) => conflict.column('region').doUpdateSet(host))
      .execute();
    const others = await listOtherLiveRegions({ db, now: context.now }, host.region);
    return { lastHeartbeat: before?.heartbeat_at ?? null, isAlone: others.length === 0 };
  });
}

/**
 * Refuses a change of the driver while instances of the former one run, because the new driver could neither adopt nor stop
 * them.
 *
 * @throws OperatorError
 */
async function requireNoInstances(
  db: Database,
  before: { readonly id: string; readonly runtime: string },
  runtime: string,
): Promise<void> {
  const { count } = await db
    .selectFrom('instances')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('host_id', '=', before.id)
    .where('state', '<>', 'ended')
    .executeTakeFirstOrThrow();
  if (count === 0) return;
  throw new OperatorError(
    `BOTHOST_RUNTIME is ${runtime}, but ${count} instance(s) of the runtime ${before.runtime} still run. Start the service with BOTHOST_RUNTIME=${before.runtime} and stop it, so that it ends them. Then change the runtime.`,
  );
}

/** Returns the other regions whose servers sent a heartbeat in the last minute. */
export async function listOtherLiveRegions(
  { db, now }: { readonly db: Database; readonly now: () => Date },
  region: string,
): Promise<string[]> {
  const others = await db
    .selectFrom('hosts')
    .select('region')
    .where('region', '<>', region)
    .where('heartbeat_at', '>', new Date(now().getTime() - hostHeartbeatTimeoutMs))
    .orderBy('region')
    .execute();
  return others.map((host) => host.region);
}

/** Removes a new region whose first server did not start, unless it has agents or is an organization's default. */
export async function removeRegionWithoutAgents(db: Database, { id, region }: RegionHost): Promise<void> {
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

/**
 * Writes the heartbeat without waiting for the disk. After a crash of the server, the last heartbeat becomes the end time of
 * sessions whose end was not observed. If the database crashes too and loses that heartbeat, this time is about a second early.
 */
export async function recordHeartbeat(context: { db: Database; now: () => Date }, host: RegionHost): Promise<void> {
  // One statement instead of a transaction of four, because it runs every second. The setting ends with the statement.
  await sql`update hosts set heartbeat_at = ${context.now()} from ${commitWithoutWaiting} where id = ${host.id}`.execute(
    context.db,
  );
}
