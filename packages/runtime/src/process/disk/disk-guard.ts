import { statfsSync } from 'node:fs';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { DiskLimits, RuntimeLogger } from '../../runtime.ts';
import type { ProcessTableProvider } from '../proc/process-table.ts';
import { createProcessTableProvider } from '../proc/process-table.ts';
import { readProcFile } from '../proc/read-proc-file.ts';
import { type DiskUse, findDiskLimitViolations } from './choose-to-end.ts';
import { createDiskMeter, type DiskMeasurement, type DiskMeasurementTarget } from './disk-meter.ts';
import { type FreeSpaceSample, forecastFreeSpace, selectRecentSamples } from './forecast-free-space.ts';
import type { ProjectOwnerDiskMonitor } from './project-owner-disk-monitor.ts';

/** Milliseconds until the next attempt after a failed check of the disk use. */
const retryMs = 1_000;

/** An instance or build that uses disk space. */
export type DiskConsumer = DiskMeasurementTarget & {
  readonly kind: DiskUse['kind'];
  readonly owner: string | null;
  readonly limitBytes: number;
  /** Bytes that the directories of the instance or build already contained when it started, for example a download cache. */
  readonly foundBytes: number;
  /** Ends the instance or build. Called at most once. */
  readonly end: (reason: string) => void;
};

export type DiskGuardOptions = {
  readonly dataDirectory: string;
  readonly limits: DiskLimits;
  readonly consumers: () => readonly DiskConsumer[];
  readonly stored: ProjectOwnerDiskMonitor;
  readonly logger: RuntimeLogger;
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly nowMs: () => number;
};

/** Ends instances and builds that exceed their limits of disk space, as `findDiskLimitViolations` decides. */
export type DiskGuard = {
  /** Last measured disk use of an owner's builds and instances. An owner is an organization or a served project directory. */
  readonly usedBytes: (owner: string) => number;
  readonly close: () => Promise<void>;
};

type Start = { readonly bytes: number; readonly writtenBytes: number };

export function startDiskGuard(options: DiskGuardOptions): DiskGuard {
  const { limits, logger, stored, nowMs } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const meter = createDiskMeter(options.dataDirectory, signal, nowMs);
  const ending = new Set<string>();
  /**
   * The previous measurement of each instance and build, by id. Growth is the difference from this measurement. Not updated
   * while the reserve of free disk space is at risk, so that growth is counted from the beginning of the risk.
   */
  const starts = new Map<string, Start>();
  /** Measured bytes of the running instances and builds of each owner. */
  let ownerBytes: ReadonlyMap<string, number> = new Map();
  let samples: readonly FreeSpaceSample[] = [];
  let measuredAtMs = Number.NEGATIVE_INFINITY;
  let wasAtRisk = false;

  const usedBytes = (owner: string): number => stored.bytesOf(owner) + (ownerBytes.get(owner) ?? 0);

  const describe = (
    consumer: DiskConsumer,
    found: DiskMeasurement | undefined,
    table: ProcessTableProvider,
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
    const byId = new Map(consumers.map((consumer) => [consumer.id, consumer]));
    for (const each of [ending, starts]) for (const id of each.keys()) if (!byId.has(id)) each.delete(id);
    const table = createProcessTableProvider();
    const measured = await meter.measure(consumers, table);
    const uses: DiskUse[] = [];
    for (const consumer of consumers) {
      uses.push(describe(consumer, measured.get(consumer.id), table, isReserveAtRisk));
      // Let requests be answered in between: reading the hundreds of processes of a fork bomb takes milliseconds.
      await nextTurn();
    }
    if (signal.aborted) return;
    ownerBytes = sumByOwner(uses);
    const organizations = new Map([...ownerBytes.keys()].map((owner) => [owner, usedBytes(owner)]));
    for (const { id, reason } of findDiskLimitViolations({ limits, uses, organizations, isReserveAtRisk })) {
      ending.add(id);
      logger.warn({ id, reason }, 'instance or build ended for exceeding a disk limit');
      byId.get(id)?.end(reason);
    }
  };

  const round = async (): Promise<number> => {
    const latest = { bytes: readFreeBytes(options.dataDirectory), atMs: nowMs() };
    const earlier = selectRecentSamples(samples, latest.atMs);
    samples = [...earlier, latest];
    const forecast = forecastFreeSpace(earlier, latest, limits.reserveBytes);
    if (forecast.isReserveAtRisk !== wasAtRisk) {
      wasAtRisk = forecast.isReserveAtRisk;
      const fields = { freeBytes: latest.bytes, reserveBytes: limits.reserveBytes };
      if (wasAtRisk) logger.warn(fields, 'free disk space close to the reserve');
      else logger.info(fields, 'free disk space above the reserve again');
    }
    if (nowMs() - measuredAtMs >= forecast.measureEveryMs) {
      await check(forecast.isReserveAtRisk);
      measuredAtMs = nowMs();
    }
    stored.refresh(signal);
    return forecast.pauseMs;
  };

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const pauseMs = await round().catch((error: unknown) => {
        logger.error({ err: error }, 'disk use could not be checked');
        return retryMs;
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

function sumByOwner(uses: readonly DiskUse[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { owner, bytes } of uses) if (owner !== null) sums.set(owner, (sums.get(owner) ?? 0) + (bytes ?? 0));
  return sums;
}

/** Reads the free space synchronously: on a busy disk, an asynchronous call would wait seconds for other file operations. */
function readFreeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

/** Bytes written to disks, except those deleted before write-back (proc_pid_io(5)). Unreadable counters count as 0. */
function readWrittenBytes(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const text = readProcFile(`/proc/${pid}/io`) ?? '';
    const counter = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? 0);
    return sum + counter(/^write_bytes: (\d+)$/m) - counter(/^cancelled_write_bytes: (\d+)$/m);
  }, 0);
}
