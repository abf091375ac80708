import {
  Kysely,
  type PostgresCursor,
  PostgresDialect,
  type PostgresPoolClient,
  type PostgresQueryResult,
  sql,
} from 'kysely';
import pg from 'pg';
import type { Logger } from 'pino';
import { clientConfig, type DatabaseAddress } from './address.ts';
import { isConnectionError } from './connection-error.ts';
import { preparedName } from './prepared.ts';
import { StoreError } from './store-error.ts';

/** PostgreSQL 15 is the oldest that the service's SQL runs on, in the form of `server_version_num`. */
const oldestServer = 150_000;

/** How long a request may wait for the database to come back before it fails; the recovery itself goes on. */
const recoveryTimeoutMs = 10_000;

export type DatabaseOptions = {
  readonly address: DatabaseAddress;
  readonly logger: Pick<Logger, 'warn'>;
  /** Connections at most. The embedded server has 60 places; listening and locks take a few beside the pool. */
  readonly maxConnections?: number;
  /** Called when no connection can be made; when it resolves, the connection is tried once more. */
  readonly onConnectionFailure?: () => Promise<void>;
};

/**
 * A pool of connections to PostgreSQL 15 or later, as kysely. `bigint` is read as number (and refused beyond 2^53),
 * `timestamptz` as Date. `destroy()` closes it. A lost connection is an error of the query that used it, never of the process.
 *
 * @throws StoreError when the server cannot be reached, is too old, or does not store UTF-8
 */
export async function openDatabase<Tables>(options: DatabaseOptions): Promise<Kysely<Tables>> {
  const pool = new pg.Pool({
    ...clientConfig(options.address),
    max: options.maxConnections ?? 20,
    idleTimeoutMillis: 60_000,
    statement_timeout: 30_000,
    lock_timeout: 10_000,
    idle_in_transaction_session_timeout: 60_000,
    types: { getTypeParser: typeParser },
  });
  // In words: the pool hangs its whole client on the error, and a log would hold all of that.
  pool.on('error', ({ message }) => options.logger.warn({ why: message }, 'an idle database connection was lost'));
  // The pool listens only to idle connections; without this the loss of one in use would end the process. Its query tells.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const connect = () => connectOrRecover(pool, options.onConnectionFailure);
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: { connect, end: () => pool.end() } }),
  });
  try {
    await requireSupportedServer(db);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return db;
}

async function connectOrRecover(
  pool: pg.Pool,
  recover: (() => Promise<void>) | undefined,
): Promise<PostgresPoolClient> {
  try {
    return discardedWhenBroken(await pool.connect());
  } catch (error) {
    if (recover === undefined || pool.ending || !isConnectionError(error)) throw error;
    await withTimeout(recover(), error);
    return discardedWhenBroken(await pool.connect());
  }
}

/** The error of a cut connection comes before its end: without this the next user would get it from the pool again. */
function discardedWhenBroken(client: pg.PoolClient): PostgresPoolClient {
  let broken = false;
  function query<R>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  function query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  function query(text: unknown, parameters?: readonly unknown[]): unknown {
    // Only asked for when the dialect is given a cursor, which it is not.
    if (typeof text !== 'string') throw new TypeError('streaming from the database is not set up');
    const name = preparedName(text);
    const values = [...(parameters ?? [])];
    return client.query(name === undefined ? { text, values } : { name, text, values }).catch((error: unknown) => {
      broken ||= isConnectionError(error);
      throw error;
    });
  }
  return { query, release: () => client.release(broken) };
}

/** Waits for a recovery, at most `recoveryTimeoutMs`. A failed or late recovery is told as the original error. */
async function withTimeout(recovery: Promise<void>, original: unknown): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(original), recoveryTimeoutMs);
  });
  try {
    await Promise.race([recovery.catch(() => Promise.reject(original)), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function requireSupportedServer<Tables>(db: Kysely<Tables>): Promise<void> {
  const query = sql<{ version: string; number: number; encoding: string }>`
    select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
      current_setting('server_encoding') as encoding`;
  const { rows } = await query.execute(db).catch((error: unknown) => {
    // Only the reason: the address may hold a password.
    throw new StoreError(`The database cannot be used: ${error instanceof Error ? error.message : 'unknown error'}`, {
      cause: error,
    });
  });
  const [server] = rows;
  if (server === undefined) throw new StoreError('The database does not say which version it is.');
  if (server.number < oldestServer) {
    throw new StoreError(`The database is PostgreSQL ${server.version}; version 15 or later is needed.`);
  }
  if (server.encoding !== 'UTF8') {
    throw new StoreError(`The database stores text as ${server.encoding}; one with encoding UTF8 is needed.`);
  }
}

const typeParser: pg.CustomTypesConfig['getTypeParser'] = (oid: number, format?: 'text' | 'binary') => {
  if (oid === pg.types.builtins.INT8 && format !== 'binary') return parseBigint;
  return format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text');
};

function parseBigint(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`the database's number ${text} is beyond 2^53`);
  return value;
}
