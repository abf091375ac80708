import type { LogLine } from '@bothost/contract';
import { type MaskLookup, mergeOutputs } from './merge-outputs.ts';
import type { LogPosition, SortOrder } from './position.ts';
import type { InstanceWithLogs, LogScope } from './rows.ts';
import type { LineFilter, LogLineContent } from './scan-lines.ts';
import { findLogOutputs, type LogSourcesContext } from './sources.ts';

/** Limits on the cost of one request. The next page continues where a limit was reached. */
export type LogPageLimits = {
  readonly maxLines: number;
  readonly responseBytes: number;
  /** The maximum number of bytes to read from disk. */
  readonly scanBytes: number;
  readonly maxMs: number;
  /** After a page is full, further matches are counted until there are `maxCount` of them, or `countBytes` bytes have been read. */
  readonly maxCount: number;
  readonly countBytes: number;
};

export type LogPageRequest = {
  readonly scope: LogScope;
  readonly order: SortOrder;
  readonly filter: LineFilter;
  readonly after: LogPosition | null;
  readonly offset: number;
  /** The time range includes `from` and excludes `to`. */
  readonly from: number;
  readonly to: number;
  readonly limits: LogPageLimits;
};

export type LogPage = {
  readonly lines: readonly LogLine[];
  readonly counted: number;
  /** The end of the page, or null if nothing was read. */
  readonly reached: LogPosition | null;
  readonly isComplete: boolean;
  /** Whether the page contains the last matching line. */
  readonly isLast: boolean;
  readonly live: readonly string[];
};

export type LogPageContext = LogSourcesContext & { readonly maskOf: MaskLookup };

/** Reads one page of logs: a k-way merge of the outputs of instances, ordered by time, instance and offset. */
export async function readLogPage(context: LogPageContext, request: LogPageRequest): Promise<LogPage> {
  const { limits } = request;
  const startedAt = performance.now();
  const sources = await findLogOutputs(context, request.scope, spanOf(request));
  const merge = mergeOutputs(context, request, sources);
  const lines: LogLine[] = [];
  let responseBytes = 0;
  let matched = 0;
  let reached: LogPosition | null = null;
  let isFull = false;
  let isComplete = false;
  try {
    for (;;) {
      const next = await merge.next();
      if (next === null) {
        isComplete = true;
        break;
      }
      const { decode, position, instance } = next;
      if (!isFull) reached = position;
      if (decode !== null) {
        matched++;
        if (!isFull && matched > request.offset) {
          const line = decode();
          lines.push(withInstance(line, position, instance));
          responseBytes += line.log.length;
        }
        isFull ||= lines.length >= limits.maxLines || responseBytes >= limits.responseBytes;
      }
      if (isSpent(merge.scannedBytes())) break;
    }
  } finally {
    await merge.close();
  }
  return {
    lines,
    counted: matched,
    reached,
    isComplete,
    isLast: isComplete && matched <= request.offset + lines.length,
    live: sources.live,
  };

  function isSpent(scannedBytes: number): boolean {
    const elapsed = performance.now() - startedAt;
    if (scannedBytes >= limits.scanBytes || elapsed >= limits.maxMs) return true;
    return isFull && (matched >= limits.maxCount || scannedBytes >= limits.countBytes);
  }
}

function spanOf({ order, after, from, to }: LogPageRequest) {
  if (after === null) return { order, from, to };
  return order === 'asc'
    ? { order, from: Math.max(from, after.at), to }
    : { order, from, to: Math.min(to, after.at + 1) };
}

function withInstance(line: LogLineContent, { at }: LogPosition, instance: InstanceWithLogs): LogLine {
  const requested = instance.requested_at?.getTime();
  return {
    ...line,
    deploymentId: instance.deployment_id,
    instanceId: instance.instance_id,
    sessionId: instance.session_id,
    ...(requested !== undefined && at < requested * 1000 ? { beforeSession: true } : {}),
  };
}
