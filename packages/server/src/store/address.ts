import type pg from 'pg';

/** Where a database answers: a unix socket (`host` is the socket's directory) or the operator's `DATABASE_URL`. */
export type DatabaseAddress =
  | { readonly host: string; readonly port: number; readonly database: string; readonly user: string }
  | { readonly url: string };

/**
 * The connection settings of the `pg` library. For a socket all that the library would otherwise take from variables
 * such as `PGOPTIONS` or `PGSSLMODE` is given, because an operator's shell must not change how our own database is reached.
 */
export function clientConfig(address: DatabaseAddress): pg.ClientConfig {
  if ('url' in address) return { connectionString: address.url, keepAlive: true, connectionTimeoutMillis: 10_000 };
  return { ...address, ssl: false, options: '-c client_min_messages=warning', connectionTimeoutMillis: 10_000 };
}

/** The same address as one URL, for programs that take no other form. `host` in its query wins over the host before it. */
export function addressUrl(address: DatabaseAddress): string {
  if ('url' in address) return address.url;
  const { host, port, database, user } = address;
  return `postgresql://${encodeURIComponent(user)}@localhost/${encodeURIComponent(database)}?host=${encodeURIComponent(host)}&port=${port}`;
}
