import pg from 'pg';
import { createClientConfig, type DatabaseAddress } from './address.ts';

/** Interval in milliseconds of queries that detect the loss of the server, which TCP alone may not report. */
const heartbeatMs = 5_000;

/** A connection outside the pool, for features that belong to one PostgreSQL session: advisory locks and subscriptions. */
export type DedicatedConnection = { readonly close: () => Promise<void> };

/**
 * Connects and runs `prepare`, without a time limit. Then watches the connection and calls `onLost` once if it ends without
 * `close`. If connecting or preparing fails, rejects and leaves no connection open.
 */
export async function openDedicatedConnection(options: {
  readonly address: DatabaseAddress;
  readonly prepare: (client: pg.Client) => Promise<void>;
  readonly onLost: (error: Error) => void;
}): Promise<DedicatedConnection> {
  const client = new pg.Client(createClientConfig(options.address));
  let heartbeat: NodeJS.Timeout | undefined;
  let onLost: ((error: Error) => void) | undefined;
  const lose = (error: Error) => {
    clearInterval(heartbeat);
    const notifyLost = onLost;
    onLost = undefined;
    void client.end().catch(() => undefined);
    notifyLost?.(error);
  };
  client.on('error', lose);
  client.on('end', () => lose(new Error('Connection terminated')));
  try {
    await client.connect();
    await options.prepare(client);
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
  onLost = options.onLost;
  // Each heartbeat query times out before the next one is due, so that two queries never overlap.
  const question = { text: 'select 1', query_timeout: heartbeatMs - 1_000 };
  heartbeat = setInterval(() => void client.query(question).catch(lose), heartbeatMs);
  heartbeat.unref();
  return {
    close: async () => {
      clearInterval(heartbeat);
      onLost = undefined;
      await client.end().catch(() => undefined);
    },
  };
}
