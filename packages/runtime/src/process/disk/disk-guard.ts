import { setTimeout as delay } from 'node:timers/promises';
import type { DiskLimits, RuntimeLogger } from '../../runtime.ts';
import type { TableSource } from '../containment/containment.ts';
import { createTableSource } from '../instances/watchdog.ts';
import { chooseToEnd, type DiskUse } from './choose-to-end.ts';
import { createDiskMeter, type Measurable, type Measurement } from './disk-meter.ts';
import { createFreeSpacePoll } from './free-space.ts';
import type { StoredUsage } from './stored-usage.ts';
import { readWrittenBytes } from './written-bytes.ts';

/** Measure more often if the free space is less than the reserve times this factor. */
const SCARCE_RESERVES = 4;
const SCARCE_INTERVAL_MS = 1_000;
const PLENTY_INTERVAL_MS = 10_000;
/** Interval of the measurements while the reserve is at risk and the free space is shrinking. */
const URGENT_INTERVAL_MS = 200;

/** An instance or build that uses disk space. */
export type DiskConsumer = Measurable & {
  readonly kind: DiskUse['kind'];
  readonly owner: string | null;
  readonly limitBytes: number;
  /** Bytes that its directories already contained at the start, for example a download cache. */
  readonly foundBytes: number;
  /** Ends the instance or build. Called at most once. */
  readonly end: (reason: string) => void;
};

export type DiskGuardOptions = {
  readonly dataDirectory: string;
  readonly limits: DiskLimits;
  /** Returns the running instances and builds. */
  readonly consumers: () => readonly DiskConsumer[];
  readonly stored: StoredUsage;
  readonly logger: RuntimeLogger;
};

/** Ends instances and builds that exceed their limits of disk space, as `chooseToEnd` decides. */
export type DiskGuard = {
  /** Disk use of an owner as last measured: the results of finished builds, and its running builds and instances. */
  readonly usedBytes: (owner: string) => number;
  readonly close: () => Promise<void>;
};

type Start = { readonly bytes: number; readonly writtenBytes: number };

export function startDiskGuard(options: DiskGuardOptions): DiskGuard {
  const { limits, logger, stored } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const meter = createDiskMeter(options.dataDirectory, signal);
  const pollFreeSpace = createFreeSpacePoll(options.dataDirectory, limits.reserveBytes);
  const ending = new Set<string>();
  /** Disk use at the last measurement at which the reserve was not at risk. Growth is counted from there. */
  const starts = new Map<string, Start>();
  let uses: readonly DiskUse[] = [];
  let measuredAtMs = Number.NEGATIVE_INFINITY;
  let wasAtRisk = false;

  const usedBytes = (owner: string): number =>
    uses.filter((use) => use.owner === owner).reduce((sum, { bytes }) => sum + (bytes ?? 0), stored.bytesOf(owner));

  const describe = (
    consumer: DiskConsumer,
    found: Measurement | undefined,
    table: TableSource,
    isReserveAtRisk: boolean,
  ): DiskUse => {
    const { id, kind, owner, limitBytes, foundBytes } = consumer;
    const total = found?.bytes ?? null;
    const bytes = total === null ? null : Math.max(0, total - foundBytes);
    const writtenBytes = readWrittenBytes(consumer.pids(table));
    const start = starts.get(id) ?? { bytes: 0, writtenBytes: 0 };
    if (bytes !== null && !isReserveAtRisk) starts.set(id, { bytes, writtenBytes });
    return {
      id,
      kind,
      owner,
      limitBytes,
      bytes,
      isUncountable: found?.isUncountable ?? false,
      grownBytes: (bytes ?? 0) - start.bytes,
      writtenBytes: writtenBytes - start.writtenBytes,
      isEnding: ending.has(id),
    };
  };

  const check = async (isReserveAtRisk: boolean): Promise<void> => {
    const consumers = options.consumers();
    for (const each of [ending, starts])
      for (const id of each.keys()) if (!consumers.some((consumer) => consumer.id === id)) each.delete(id);
    const table = createTableSource();
    const measured = await meter.measure(consumers, table);
    if (signal.aborted) return;
    uses = consumers.map((consumer) => describe(consumer, measured.get(consumer.id), table, isReserveAtRisk));
    const owners = new Set(uses.flatMap(({ owner }) => owner ?? []));
    const organizations = new Map([...owners].map((owner) => [owner, usedBytes(owner)]));
    for (const { id, reason } of chooseToEnd({ limits, uses, organizations, isReserveAtRisk })) {
      ending.add(id);
      logger.warn({ id, reason }, 'instance or build ended for exceeding a disk limit');
      consumers.find((consumer) => consumer.id === id)?.end(reason);
    }
  };

  const round = async (): Promise<number> => {
    const free = pollFreeSpace();
    if (free.isReserveAtRisk !== wasAtRisk) {
      wasAtRisk = free.isReserveAtRisk;
      const fields = { freeBytes: free.bytes, reserveBytes: limits.reserveBytes };
      if (wasAtRisk) logger.warn(fields, 'free disk space close to the reserve');
      else logger.info(fields, 'free disk space above the reserve again');
    }
    const isScarce = free.bytes < SCARCE_RESERVES * limits.reserveBytes;
    const isUrgent = free.isReserveAtRisk && free.isFalling;
    const intervalMs = isUrgent ? URGENT_INTERVAL_MS : isScarce ? SCARCE_INTERVAL_MS : PLENTY_INTERVAL_MS;
    if (performance.now() - measuredAtMs >= intervalMs) {
      await check(free.isReserveAtRisk);
      measuredAtMs = performance.now();
    }
    stored.refresh(signal);
    return free.pauseMs;
  };

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const pauseMs = await round().catch((error: unknown) => {
        logger.error({ err: error }, 'disk use could not be checked');
        return SCARCE_INTERVAL_MS;
      });
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };
  const running = run();

  return {
    usedBytes,
    close: async () => {
      closing.abort();
      await running;
    },
  };
}
