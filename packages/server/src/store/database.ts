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
import { createClientConfig, type DatabaseAddress } from './address.ts';
import { isConnectionError } from './connection-error.ts';
import { findPreparedQueryName } from './prepared-query.ts';
import { StoreError } from './store-error.ts';

/** The oldest supported version of PostgreSQL, as `server_version_num`. Older versions lack SQL that the service uses. */
const oldestServer = 150_000;

/**
 * Milliseconds that a query waits for `onConnectionFailure`. After that, the query fails, but `onConnectionFailure` continues.
 */
const recoveryTimeoutMs = 10_000;

/** Maximum number of connections in the pool of a service. */
export const poolConnections = 20;

export type DatabaseOptions = {
  readonly address: DatabaseAddress;
  readonly logger: Pick<Logger, 'warn'>;
  /** Maximum number of connections in the pool. The embedded server allows 60, and subscriptions and locks need some of them. */
  readonly maxConnections?: number;
  /** Called when the pool cannot connect, to make the server reachable. Afterwards, the pool connects once more. */
  readonly onConnectionFailure?: () => Promise<void>;
};

/**
 * Opens a pool of connections to PostgreSQL 15 or later, and returns it as Kysely. Reads `bigint` as number, and throws above
 * 2^53; reads `timestamptz` as Date. `destroy()` closes the pool. A lost connection fails the query that used it, never the
 * process.
 *
 * @throws StoreError if the server is unreachable or too old, or does not store UTF-8
 */
export async function openDatabase<Tables>(options: DatabaseOptions): Promise<Kysely<Tables>> {
  const pool = new pg.Pool({
    ...createClientConfig(options.address),
    max: options.maxConnections ?? poolConnections,
    // Send each query at once, also behind a `begin` without a response.
    pipeline: true,
    statement_timeout: 30_000,
    lock_timeout: 10_000,
    idle_in_transaction_session_timeout: 60_000,
    types: { getTypeParser: typeParser },
  });
  // Log only the message, because `pg-pool` attaches the whole client, with its settings, to the error.
  pool.on('error', ({ message }) => options.logger.warn({ why: message }, 'idle database connection lost'));
  // `pg-pool` handles errors only of idle connections. Without this listener, the loss of a connection in use would end
  // the process; the query on it fails anyway.
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

/** Discards a connection after a connection error, because its end event may arrive only after the next query. */
function discardedWhenBroken(client: pg.PoolClient): PostgresPoolClient {
  let broken = false;
  function query<R>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  function query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  function query(text: unknown, parameters?: readonly unknown[]): unknown {
    // For a query with streamed results, Kysely passes a cursor in place of the query text.
    if (typeof text !== 'string') throw new TypeError('Streaming queries are not supported.');
    const name = findPreparedQueryName(text);
    const values = [...(parameters ?? [])];
    const result = client.query(name === undefined ? { text, values } : { name, text, values });
    const checked = result.catch((error: unknown) => {
      broken ||= isConnectionError(error);
      throw error;
    });
    if (text !== 'begin') return checked;
    // Without waiting, the next query is sent in the same exchange. A `begin` fails only if its connection is lost, and then the
    // next query fails, too.
    checked.catch(() => undefined);
    return Promise.resolve({ command: 'BEGIN', rowCount: null, rows: [] });
  }
  return { query, release: () => client.release(broken) };
}

/**
 * Waits for `recovery` for at most `recoveryTimeoutMs`. Rejects with the error `original` if the recovery fails or takes longer.
 */
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
    // Report only the message, because the address may contain a password.
    throw new StoreError(`The database cannot be used: ${error instanceof Error ? error.message : 'unknown error'}`, {
      cause: error,
    });
  });
  const [server] = rows;
  if (server === undefined) throw new StoreError('The database did not report its version.');
  if (server.number < oldestServer) {
    throw new StoreError(`The database is PostgreSQL ${server.version}; version 15 or later is needed.`);
  }
  if (server.encoding !== 'UTF8') {
    throw new StoreError(`The database has the encoding ${server.encoding}. Use one with the encoding UTF8.`);
  }
}

const typeParser: pg.CustomTypesConfig['getTypeParser'] = (oid: number, format?: 'text' | 'binary') => {
  if (oid === pg.types.builtins.INT8 && format !== 'binary') return parseBigint;
  return format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text');
};

function parseBigint(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`the bigint ${text} from the database exceeds 2^53`);
  return value;
}
