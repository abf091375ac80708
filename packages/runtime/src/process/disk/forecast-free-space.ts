/** Time needed to find and end a process that would use up the reserve. */
const reactionMs = 500;
const windowMs = 300;
/** Safety margin, as a fraction of the reserve, so that slow writers are ended before they use the reserve. */
const marginPart = 1 / 8;
/** Upper bound of the speed at which bots can write. */
const fastestBytesPerMs = (8 * 1024 * 1024 * 1024) / 1000;
const shortestPollMs = 50;
const longestPollMs = 1_000;

/** Measure disk use more often if the free space is less than the reserve times this factor. */
const scarceReserves = 4;
const scarceIntervalMs = 1_000;
const plentyIntervalMs = 10_000;
/**
 * Interval between measurements of disk use while the free space is shrinking and is about to fall below the service's reserve.
 */
const urgentIntervalMs = 200;

/** A measurement of the free space. `atMs` is the time of a monotonic clock. */
export type FreeSpaceSample = { readonly bytes: number; readonly atMs: number };

export type FreeSpaceForecast = {
  readonly isFalling: boolean;
  /** Whether the free space would fall below the reserve, at the present speed, before the writing process can be ended. */
  readonly isReserveAtRisk: boolean;
  /** Milliseconds until the next sample of the free space. Decreases as the free space approaches the reserve. */
  readonly pauseMs: number;
  /** Milliseconds between two measurements of the disk use of instances and builds. */
  readonly measureEveryMs: number;
};

/** Forecasts the free space from the latest sample and recent earlier ones, oldest first. Pure. */
export function forecastFreeSpace(
  earlier: readonly FreeSpaceSample[],
  latest: FreeSpaceSample,
  reserveBytes: number,
): FreeSpaceForecast {
  const { bytes, atMs } = latest;
  const first = earlier[0] ?? latest;
  const fallenBytes = Math.max(0, first.bytes - bytes);
  const isFalling = fallenBytes > 0;
  const expectedBytes = bytes - (fallenBytes / Math.max(windowMs, atMs - first.atMs)) * reactionMs;
  const isReserveAtRisk = reserveBytes > 0 && expectedBytes < reserveBytes * (1 + marginPart);
  const isScarce = bytes < scarceReserves * reserveBytes;
  const aboveMs = (bytes - reserveBytes) / fastestBytesPerMs;
  return {
    isFalling,
    isReserveAtRisk,
    pauseMs: Math.min(longestPollMs, Math.max(shortestPollMs, aboveMs)),
    measureEveryMs: isReserveAtRisk && isFalling ? urgentIntervalMs : isScarce ? scarceIntervalMs : plentyIntervalMs,
  };
}

/** Returns the samples that are recent enough for a forecast, or only the last one if all are older. */
export function selectRecentSamples(samples: readonly FreeSpaceSample[], nowMs: number): readonly FreeSpaceSample[] {
  const recent = samples.filter(({ atMs }) => nowMs - atMs <= windowMs);
  return recent.length > 0 ? recent : samples.slice(-1);
}
