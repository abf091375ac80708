import pg from 'pg';
import { createClientConfig, type DatabaseAddress } from '../address.ts';
import { StoreError } from '../store-error.ts';

/**
 * Returns the state of the server at a socket: `answers`, `busy` (starting, stopping, or not responding), or `absent`
 * (no server listens).
 *
 * @throws StoreError if a server refuses the service permanently
 */
export async function probeDatabase(address: DatabaseAddress): Promise<'answers' | 'busy' | 'absent'> {
  const client = new pg.Client({
    ...createClientConfig(address),
    connectionTimeoutMillis: 5_000,
    query_timeout: 5_000,
  });
  // Ignore this event. If the server ends during the probe, one of the promises below rejects too, which counts as
  // `busy` or `absent`.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return 'answers';
  } catch (error) {
    return interpret(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function interpret(error: unknown): 'answers' | 'busy' | 'absent' {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ECONNREFUSED' || code === 'ENOENT') return 'absent';
  // The server refuses further connections (SQLSTATE 53300), so it is running.
  if (code === '53300') return 'answers';
  if (typeof code === 'string' && (/^(28|3D)/.test(code) || code === 'EACCES')) {
    throw new StoreError(
      `The embedded PostgreSQL is running but rejects the service's connection: ${error instanceof Error && error.message}`,
    );
  }
  return 'busy';
}
