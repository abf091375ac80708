import type { LogInterval, LogLevel, Operations, RequestOf, ResponseOf } from '@bothost/contract';
import type { LogsContext } from './get.ts';
import { mergeOutputs } from './merge-outputs.ts';
import { createSecretMasks } from './secret-masks.ts';
import { type LogSelection, readLogSelection } from './selection.ts';
import { findLogOutputs } from './sources.ts';

type GetLogHistogram = Operations['getLogHistogram'];
type Histogram = ResponseOf<GetLogHistogram>;
type Query = Omit<RequestOf<GetLogHistogram>['query'], 'agent'>;

/** Lengths of intervals in seconds. */
const steps = [1, 5, 15, 60, 300, 900, 3_600, 10_800, 43_200, 86_400, 604_800, 31_536_000] as const;
const intervalsAtMost = 120;
/** Limits on the cost of one request. */
const limits = { scanBytes: 64 * 1024 * 1024, maxMs: 1_000 };

/** Counts the output of the instances of agents, the newest lines first, until a limit is reached. */
export async function getLogHistogram(
  context: LogsContext,
  agentIds: readonly string[],
  query: Query,
): Promise<Histogram> {
  const selection = readLogSelection(context, agentIds, query);
  if (selection === null) return { stepSeconds: steps[0], intervals: [], countedFrom: null };
  return context.readInTurn(() => countLines(context, selection, query));
}

async function countLines(
  context: LogsContext,
  { scope, filter, from, end }: LogSelection,
  { startTime, endTime }: Query,
): Promise<Histogram> {
  const startedAt = performance.now();
  const now = await context.outputs.mark();
  const to = Math.min(now, end);
  const range = { order: 'desc', from, to } as const;
  const sources = await findLogOutputs(context, scope, range);
  const masks = createSecretMasks(context.secretsOf);
  const merge = mergeOutputs({ maskOf: masks.of }, { ...range, filter, after: null }, sources);
  const endSeconds = endTime ?? now / 1_000_000;
  const intervals = createIntervals(startTime === undefined ? 0 : endSeconds - startTime, endSeconds);
  let countedFrom: number | null = null;
  try {
    for (let next = await merge.next(); next !== null; next = await merge.next()) {
      const seconds = next.position.at / 1_000_000;
      if (next.decode !== null) intervals.add(Math.floor(seconds), next.decode().level);
      const isSpent = merge.scannedBytes() >= limits.scanBytes || performance.now() - startedAt >= limits.maxMs;
      if (!isSpent && !context.canceled.aborted) continue;
      countedFrom = seconds;
      break;
    }
  } finally {
    await merge.close();
  }
  return { ...intervals.list(), countedFrom };
}

/**
 * Counts lines per interval. Starts with intervals for `spanSeconds`, and joins them as soon as there are too many between the
 * oldest line and `endSeconds`, because a chart has a bar for each of them, also for those without lines.
 */
export function createIntervals(spanSeconds: number, endSeconds: number) {
  const fitting = steps.findIndex((seconds) => spanSeconds / seconds <= intervalsAtMost);
  let step = fitting === -1 ? steps.length - 1 : fitting;
  let intervals = new Map<number, LogInterval>();

  function merge({ at, ...counts }: LogInterval): void {
    const stepSeconds = steps[step] ?? 1;
    const start = at - (at % stepSeconds);
    const { lines, warnings, errors } = intervals.get(start) ?? { lines: 0, warnings: 0, errors: 0 };
    intervals.set(start, {
      at: start,
      lines: lines + counts.lines,
      warnings: warnings + counts.warnings,
      errors: errors + counts.errors,
    });
  }

  function isTooLong(): boolean {
    const starts = [...intervals.keys()];
    return (Math.max(endSeconds, ...starts) - Math.min(...starts)) / (steps[step] ?? 1) > intervalsAtMost;
  }

  return {
    add: (at: number, level: LogLevel | null) => {
      const known = intervals.size;
      const isError = level === 'ERROR' || level === 'CRITICAL';
      merge({ at, lines: 1, warnings: level === 'WARNING' ? 1 : 0, errors: isError ? 1 : 0 });
      while (intervals.size > known && step < steps.length - 1 && isTooLong()) {
        const finer = [...intervals.values()];
        step += 1;
        intervals = new Map();
        for (const interval of finer) merge(interval);
      }
    },
    list: () => ({
      stepSeconds: steps[step] ?? 1,
      intervals: [...intervals.values()].sort((one, other) => one.at - other.at),
    }),
  };
}
