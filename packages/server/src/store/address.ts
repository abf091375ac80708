import type pg from 'pg';

/** Address of a database: a Unix socket in the directory `host`, or the operator's `DATABASE_URL`. */
export type DatabaseAddress =
  | { readonly host: string; readonly port: number; readonly database: string; readonly user: string }
  | { readonly url: string };

/**
 * Connection settings for `pg`. For a socket, sets everything that `pg` would otherwise read from environment variables
 * such as `PGOPTIONS` or `PGSSLMODE`, so that the operator's shell cannot change how the embedded database is reached.
 */
export function createClientConfig(address: DatabaseAddress): pg.ClientConfig {
  if ('url' in address) return { connectionString: address.url, keepAlive: true, connectionTimeoutMillis: 10_000 };
  return { ...address, ssl: false, options: '-c client_min_messages=warning', connectionTimeoutMillis: 10_000 };
}
