import pg from 'pg';
import { clientConfig, type DatabaseAddress } from '../address.ts';
import { StoreError } from '../store-error.ts';

/**
 * What is behind the socket: `answers`, `busy` (starting, stopping, or silent), or `absent` (nobody listens).
 *
 * @throws StoreError when a server answers and refuses us for good
 */
export async function probe(address: DatabaseAddress): Promise<'answers' | 'busy' | 'absent'> {
  const client = new pg.Client({ ...clientConfig(address), connectionTimeoutMillis: 5_000, query_timeout: 5_000 });
  // The server may go while we ask: that is an answer too, and told by the rejected promise.
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
  // No place for another connection: it runs.
  if (code === '53300') return 'answers';
  if (typeof code === 'string' && (/^(28|3D)/.test(code) || code === 'EACCES')) {
    throw new StoreError(
      `The running embedded PostgreSQL refuses the service: ${error instanceof Error && error.message}`,
    );
  }
  return 'busy';
}
