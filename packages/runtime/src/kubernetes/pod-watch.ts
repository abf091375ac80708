import { setTimeout as delay } from 'node:timers/promises';
import { readJsonLines } from '../json-lines.ts';
import type { RuntimeLogger } from '../runtime.ts';
import { type ClusterClient, isClusterError } from './cluster-client.ts';
import { type Pod, podListSchema, podSchema, type UncheckedPod, watchEventSchema } from './pod-schema.ts';

const pageSize = 500;
/** Seconds after which the API server ends a watch. Differs by watch, so that servers do not connect again all at once. */
const watchSeconds = 240;
const watchSecondsJitter = 60;
/** The API server sends a bookmark each minute, so a watch without any line for this time has stalled. */
const defaultStallMs = 75_000;
/** What was seen is complete for at most this time without a line. */
const freshMs = 90_000;
const firstPauseMs = 200;
const maxPauseMs = 10_000;

export type PodWatchOptions = {
  readonly client: Pick<ClusterClient, 'call' | 'stream'>;
  readonly path: string;
  readonly labelSelector: string;
  readonly logger: RuntimeLogger;
  readonly now: () => Date;
  /** Called for each change, and for each pod of a list. */
  readonly onChanged: (pod: Pod) => void;
  /** Called with all pods after each list. A pod that is missing may still exist, because the list can be old. */
  readonly onListed: (pods: readonly Pod[]) => void;
  /** Called with the last state of a pod that does not exist any more. */
  readonly onDeleted: (pod: Pod) => void;
  readonly stallMs?: number;
  readonly random?: () => number;
};

export type PodWatch = {
  /** Whether the API server reports changes now. */
  readonly isConnected: () => boolean;
  /** Whether all changes up to 90 seconds ago were seen. */
  readonly isFresh: () => boolean;
  readonly close: () => Promise<void>;
};

/**
 * Lists the pods that a selector matches, and then watches their changes. After an interruption, continues with the first change that
 * it has not seen. Lists again if the API server reports an error, such as 410 for a change that it does not keep any more. Rejects
 * if the first list fails.
 */
export async function watchPods(options: PodWatchOptions): Promise<PodWatch> {
  const { client, path, labelSelector, logger, now, stallMs = defaultStallMs, random = Math.random } = options;
  const closing = new AbortController();
  let seenAt = now();
  let isConnected = true;

  /** Skips what cannot be handled, because it would fail again after each reconnection. */
  const handle = (object: UncheckedPod, action: (pod: Pod) => void) => {
    try {
      action(podSchema.parse(object));
    } catch (error) {
      logger.error({ pod: object.metadata.name, err: error }, 'change of pod could not be handled');
    }
  };

  const list = async (): Promise<string> => {
    const pods: Pod[] = [];
    let next = '';
    for (;;) {
      const query = { labelSelector, limit: String(pageSize), ...(next === '' ? {} : { continue: next }) };
      const page = podListSchema.parse(await client.call('GET', path, { query, signal: closing.signal }));
      for (const item of page.items) {
        handle(item, (pod) => {
          pods.push(pod);
          options.onChanged(pod);
        });
      }
      next = page.metadata.continue ?? '';
      if (next !== '') continue;
      seenAt = now();
      options.onListed(pods);
      return page.metadata.resourceVersion;
    }
  };

  /** Watches until the connection ends. Calls `onVersion` with the version of each change, and with null if it must be listed again. */
  const watchOnce = async (since: string, onVersion: (version: string | null) => void): Promise<void> => {
    const stalled = new AbortController();
    const stall = () => stalled.abort(new Error(`The watch of pods had no line for ${stallMs / 1000} seconds.`));
    let timer = setTimeout(stall, stallMs);
    const signal = AbortSignal.any([closing.signal, stalled.signal]);
    const timeoutSeconds = String(Math.round(watchSeconds + random() * watchSecondsJitter));
    const query = { labelSelector, watch: 'true', allowWatchBookmarks: 'true', resourceVersion: since, timeoutSeconds };
    try {
      const stream = await client.stream(path, { query, signal });
      seenAt = now();
      isConnected = true;
      for await (const line of readJsonLines(stream)) {
        clearTimeout(timer);
        timer = setTimeout(stall, stallMs);
        const event = watchEventSchema.parse(line);
        if (event.type === 'ERROR') {
          onVersion(null);
          throw new Error(`The watch of pods failed: ${event.object.message ?? 'the API server gave no reason'}.`);
        }
        seenAt = now();
        if (event.type === 'DELETED') handle(event.object, options.onDeleted);
        else if (event.type !== 'BOOKMARK') handle(event.object, options.onChanged);
        onVersion(event.object.metadata.resourceVersion);
      }
    } catch (error) {
      if (isClusterError(error, 410)) onVersion(null);
      throw stalled.signal.aborted ? stalled.signal.reason : error;
    } finally {
      isConnected = false;
      clearTimeout(timer);
      stalled.abort();
    }
  };

  let version: string | null = await list();
  const watch = async () => {
    let interruptedAt: Date | null = null;
    while (!closing.signal.aborted) {
      try {
        version ??= await list();
        await watchOnce(version, (next) => {
          version = next;
          if (next !== null) interruptedAt = null;
        });
        interruptedAt = null;
      } catch (error) {
        if (closing.signal.aborted) return;
        logger.warn({ err: error }, 'watch of pods interrupted');
        interruptedAt ??= now();
      }
      // Pauses at most as long as the interruption has lasted, to reconnect soon after a short one. Also pauses after a watch that ended
      // normally, because a proxy may end each one at once.
      const interruptedMs = interruptedAt === null ? 0 : now().getTime() - interruptedAt.getTime();
      const pauseMs = Math.min(Math.max(firstPauseMs, interruptedMs), maxPauseMs) * random();
      await delay(pauseMs, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  };
  const watched = watch();
  return {
    isConnected: () => isConnected,
    isFresh: () => now().getTime() - seenAt.getTime() < freshMs,
    close: async () => {
      closing.abort();
      await watched;
    },
  };
}
