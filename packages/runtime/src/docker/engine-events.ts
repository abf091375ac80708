import { setTimeout as delay } from 'node:timers/promises';
import { readJsonLines } from '../json-lines.ts';
import type { RuntimeLogger } from '../runtime.ts';
import type { EngineClient } from './engine-client.ts';
import { type EngineEvent, eventSchema } from './engine-schemas.ts';
import { filterByHost } from './labels.ts';

const firstPauseMs = 200;
const maxPauseMs = 5_000;

export type EngineEventsOptions = {
  readonly engine: EngineClient;
  readonly hostId: string;
  readonly logger: RuntimeLogger;
  readonly onEvent: (event: EngineEvent) => void;
  /** Called after each connection, before its events, to find what has changed without one. */
  readonly onConnected: () => Promise<void>;
};

export type EngineEvents = {
  /** Whether the events are complete: the engine is connected, and what changed before has been found. */
  readonly isConnected: () => boolean;
  readonly close: () => Promise<void>;
};

/** Watches the containers of a host, and connects again whenever the engine was away. Rejects if the first connection fails. */
export async function watchEngineEvents(options: EngineEventsOptions): Promise<EngineEvents> {
  const { engine, hostId, logger } = options;
  const closing = new AbortController();
  const { signal } = closing;
  let isConnected = false;

  const connect = async () => {
    const query = { filters: filterByHost(hostId, { type: ['container'] }) };
    const stream = await engine.stream('GET', '/events', { query, signal });
    try {
      await options.onConnected();
    } catch (error) {
      stream.on('error', () => undefined).destroy();
      throw error;
    }
    isConnected = true;
    return stream;
  };

  let stream = await connect();
  const watch = async () => {
    let pauseMs = firstPauseMs;
    while (!signal.aborted) {
      try {
        for await (const event of readJsonLines(stream)) {
          options.onEvent(eventSchema.parse(event));
          pauseMs = firstPauseMs;
        }
      } catch (error) {
        if (!signal.aborted) logger.warn({ err: error }, 'events of the Docker engine ended');
      }
      isConnected = false;
      let isReported = false;
      while (!signal.aborted && !isConnected) {
        await delay(pauseMs, undefined, { signal }).catch(() => undefined);
        pauseMs = Math.min(pauseMs * 2, maxPauseMs);
        if (signal.aborted) return;
        await connect().then(
          (next) => {
            stream = next;
            logger.info({}, 'Docker engine connected again');
          },
          (error: unknown) => {
            if (!signal.aborted && !isReported) logger.warn({ err: error }, 'Docker engine does not respond');
            isReported = true;
          },
        );
      }
    }
  };
  const watched = watch();
  return {
    isConnected: () => isConnected,
    close: async () => {
      closing.abort();
      await watched;
    },
  };
}
