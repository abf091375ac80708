import { sql } from 'kysely';
import { isConnectionError } from '../store/connection-error.ts';
import { poolConnections } from '../store/database.ts';
import type { Database } from '../store/tables.ts';
import { type Finding, failed, ok } from './finding.ts';

/** The pool, the lock of the region, and the subscription to revoked keys. */
const neededConnections = poolConnections + 2;
/** Milliseconds by which the clocks of service and database may differ. */
const maxClockDifferenceMs = 10_000;

type ServerFacts = {
  readonly version: string;
  /** The most connections that this service can have, or null if nothing limits them. */
  readonly connections: number;
  readonly now: Date;
};

/** Checks that the database responds, has enough connections for this service, and has the same time. */
export async function checkDatabase(
  { db, now }: { readonly db: Database; readonly now: () => Date },
  isEmbedded: boolean,
): Promise<Finding> {
  let facts: ServerFacts;
  let serviceMs: number;
  try {
    const before = now().getTime();
    facts = await readServerFacts(db);
    serviceMs = (before + now().getTime()) / 2;
  } catch (error) {
    if (!isConnectionError(error)) throw error;
    return failed(
      'The database does not respond, or has no free connection.',
      isEmbedded
        ? 'Read the log of the service, and restart the service.'
        : 'Check that the PostgreSQL of DATABASE_URL runs, and its limit of connections.',
    );
  }
  const { version, connections } = facts;
  if (connections < neededConnections)
    return failed(
      `The database allows this service ${connections} connections, and it uses up to ${neededConnections}.`,
      'Raise max_connections of PostgreSQL, and the connection limits of the role and the database.',
    );
  const differenceMs = Math.abs(facts.now.getTime() - serviceMs);
  if (differenceMs > maxClockDifferenceMs)
    return failed(
      `The clocks of the database and of the service differ by ${Math.round(differenceMs / 1000)} seconds.`,
      'Synchronize both machines with NTP.',
    );
  return ok(`PostgreSQL ${version} responds, and allows this service ${connections} connections.`);
}

async function readServerFacts(db: Database): Promise<ServerFacts> {
  // Connections of other roles and databases are not available to this service. A limit of -1 means none.
  const query = sql<ServerFacts>`
    select
      current_setting('server_version') as version,
      clock_timestamp() as now,
      least(
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int -
          coalesce(current_setting('reserved_connections', true), '0')::int -
          (select count(*)::int from pg_stat_activity
            where datid is not null and usesysid is not null
              and (datname is distinct from current_database() or usename is distinct from current_user)),
        (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user),
        (select nullif(datconnlimit, -1) from pg_database where datname = current_database())
      ) as connections`;
  const [facts] = (await query.execute(db)).rows;
  if (facts === undefined) throw new Error('the database returned no row');
  return facts;
}
