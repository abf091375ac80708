import { setTimeout as delay } from 'node:timers/promises';
import { readJsonLines } from '../json-lines.ts';
import type { RuntimeLogger } from '../runtime.ts';
import { type ApiClient, isApiError } from './api-client.ts';
import { type Pod, podListSchema, watchEventSchema } from './pod-schema.ts';

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
  readonly client: Pick<ApiClient, 'call' | 'stream'>;
  /** Path of the pods of a namespace. */
  readonly path: string;
  readonly labelSelector: string;
  readonly logger: RuntimeLogger;
  readonly now: () => Date;
  /** Called with all pods after each list. A pod that is missing may still exist, because the list can be old. */
  readonly onListed: (pods: readonly Pod[]) => void;
  readonly onChanged: (pod: Pod) => void;
  /** Called with the last state of a pod that does not exist any more. */
  readonly onDeleted: (pod: Pod) => void;
  readonly stallMs?: number;
  readonly random?: () => number;
};

export type PodWatch = {
  /** Whether all changes up to 90 seconds ago were seen. */
  readonly isFresh: () => boolean;
  readonly close: () => Promise<void>;
};

/**
 * Lists the pods that a selector matches, and then watches their changes. After an interruption, continues with the first change that
 * it has not seen, and lists again only if the API server does not keep this change any more. Rejects if the first list fails.
 */
export async function watchPods(options: PodWatchOptions): Promise<PodWatch> {
  const { client, path, labelSelector, logger, now, stallMs = defaultStallMs, random = Math.random } = options;
  const closing = new AbortController();
  let seenAt = now();

  const list = async (): Promise<string> => {
    const pods: Pod[] = [];
    let next = '';
    for (;;) {
      const query = { labelSelector, limit: String(pageSize), ...(next === '' ? {} : { continue: next }) };
      const page = podListSchema.parse(await client.call('GET', path, { query, signal: closing.signal }));
      pods.push(...page.items);
      next = page.metadata.continue ?? '';
      if (next !== '') continue;
      seenAt = now();
      options.onListed(pods);
      return page.metadata.resourceVersion;
    }
  };

  /** Watches until the connection ends, and returns the version of the last change. Null: it must be listed again. */
  const watchOnce = async (since: string, onLine: (version: string) => void): Promise<boolean> => {
    const stalled = new AbortController();
    const stall = () => stalled.abort(new Error(`The watch of pods had no line for ${stallMs / 1000} seconds.`));
    let timer = setTimeout(stall, stallMs);
    const signal = AbortSignal.any([closing.signal, stalled.signal]);
    const timeoutSeconds = String(Math.round(watchSeconds + random() * watchSecondsJitter));
    const query = { labelSelector, watch: 'true', allowWatchBookmarks: 'true', resourceVersion: since, timeoutSeconds };
    try {
      const stream = await client.stream(path, { query, signal });
      seenAt = now();
      for await (const line of readJsonLines(stream)) {
        clearTimeout(timer);
        timer = setTimeout(stall, stallMs);
        const event = watchEventSchema.parse(line);
        if (event.type === 'ERROR') {
          if (event.object.code === 410) return false;
          throw new Error(`The watch of pods failed: ${event.object.message ?? 'the API server gave no reason'}.`);
        }
        seenAt = now();
        if (event.type === 'DELETED') options.onDeleted(event.object);
        else if (event.type !== 'BOOKMARK') options.onChanged(event.object);
        onLine(event.object.metadata.resourceVersion);
      }
      return true;
    } catch (error) {
      if (isApiError(error, 410)) return false;
      throw stalled.signal.aborted ? stalled.signal.reason : error;
    } finally {
      clearTimeout(timer);
      stalled.abort();
    }
  };

  let version: string | null = await list();
  const watch = async () => {
    let pauseMs = firstPauseMs;
    while (!closing.signal.aborted) {
      try {
        version ??= await list();
        const isKept = await watchOnce(version, (next) => {
          version = next;
          pauseMs = firstPauseMs;
        });
        if (!isKept) version = null;
        // Also after a watch that ended normally: a proxy may end each one at once.
        await delay(firstPauseMs * random(), undefined, { signal: closing.signal }).catch(() => undefined);
      } catch (error) {
        if (closing.signal.aborted) return;
        logger.warn({ err: error }, 'watch of pods interrupted');
        await delay(pauseMs * random(), undefined, { signal: closing.signal }).catch(() => undefined);
        pauseMs = Math.min(pauseMs * 2, maxPauseMs);
      }
    }
  };
  const watched = watch();
  return {
    isFresh: () => now().getTime() - seenAt.getTime() < freshMs,
    close: async () => {
      closing.abort();
      await watched;
    },
  };
}
