import type { Logger } from 'pino';
import type { DatabaseAddress } from './address.ts';
import { type DedicatedConnection, openDedicatedConnection } from './dedicated-connection.ts';

const firstRetryMs = 50;
const lastRetryMs = 5_000;

export type Subscription = { readonly close: () => Promise<void> };

/**
 * Receives the messages of a channel (`NOTIFY`, at most 8000 bytes each). Reconnects without limit when the connection is
 * lost and then calls `onReconnected`: messages may have been missed, so drop caches that depend on them. Rejects if the
 * first connection fails.
 */
export async function subscribeToChannel(options: {
  readonly address: DatabaseAddress;
  readonly channel: string;
  readonly onMessage: (payload: string) => void;
  readonly onReconnected: () => void;
  readonly logger: Pick<Logger, 'warn'>;
}): Promise<Subscription> {
  let retry: NodeJS.Timeout | undefined;
  let closed = false;
  const open = () =>
    openDedicatedConnection({
      address: options.address,
      onLost: (error) => {
        options.logger.warn({ err: error, channel: options.channel }, 'database subscription lost');
        retryAfter(firstRetryMs);
      },
      prepare: async (client) => {
        client.on('notification', ({ payload }) => options.onMessage(payload ?? ''));
        await client.query(`listen ${client.escapeIdentifier(options.channel)}`);
      },
    });
  const retryAfter = (delayMs: number) => {
    if (closed) return;
    retry = setTimeout(() => {
      connection = reopen(delayMs);
    }, delayMs);
    retry.unref();
  };
  const reopen = async (delayMs: number): Promise<DedicatedConnection | undefined> => {
    try {
      const reopened = await open();
      if (!closed) options.onReconnected();
      return reopened;
    } catch {
      retryAfter(Math.min(2 * delayMs, lastRetryMs));
      return undefined;
    }
  };
  let connection: Promise<DedicatedConnection | undefined> = Promise.resolve(await open());
  return {
    close: async () => {
      closed = true;
      clearTimeout(retry);
      await (await connection)?.close();
    },
  };
}
