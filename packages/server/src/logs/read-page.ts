import type { LogLine } from '@bothost/contract';
import type { Mask } from './mask.ts';
import { comparePositions, type LogPosition, type SortOrder } from './position.ts';
import { type PositionedLine, readOutput } from './read-output.ts';
import type { LogOwner, LogScope } from './rows.ts';
import type { LineFilter } from './scan-lines.ts';
import { findSources, type OutputSource, type SourcesContext } from './sources.ts';

/** Limits on the cost of one request. The next page continues where a limit was reached. */
export type PageLimits = {
  readonly lines: number;
  /** The maximum number of bytes in the lines of one page. */
  readonly responseBytes: number;
  /** The maximum number of bytes to read from disk. */
  readonly scanBytes: number;
  readonly milliseconds: number;
  /** After a page is full, matches are counted up to this number of lines or this number of bytes read. */
  readonly count: number;
  readonly countBytes: number;
};

export type PageRequest = {
  readonly scope: LogScope;
  readonly order: SortOrder;
  readonly filter: LineFilter;
  readonly after: LogPosition | null;
  readonly offset: number;
  /** The time range includes `from` and excludes `to`. */
  readonly from: number;
  readonly to: number;
  readonly limits: PageLimits;
};

export type LogPage = {
  readonly lines: readonly LogLine[];
  readonly counted: number;
  /** The end of the page, or null if nothing was read. */
  readonly reached: LogPosition | null;
  readonly isComplete: boolean;
  /** Whether no matching line follows the page. */
  readonly isLast: boolean;
  readonly live: readonly string[];
};

/** `maskOf` returns the mask for the secrets of a deployment. */
export type PageContext = SourcesContext & { readonly maskOf: (deploymentId: string) => Promise<Mask> };

/** Opening an output counts as this number of bytes read, however small the output is. */
const sourceBytes = 16 * 1024;

type Head = {
  readonly owner: LogOwner;
  readonly batches: AsyncGenerator<readonly PositionedLine[]>;
  readonly close: () => Promise<void>;
  batch: readonly PositionedLine[];
  index: number;
};

/** Reads one page of logs: a k-way merge of the outputs in the total order of lines. */
export async function readPage(context: PageContext, request: PageRequest): Promise<LogPage> {
  const { order, limits } = request;
  const startedAt = performance.now();
  let scanned = 0;
  const sources = await findSources(context, request.scope, spanOf(request));
  const heads: Head[] = [];
  const lines: LogLine[] = [];
  let responseBytes = 0;
  let matched = 0;
  let reached: LogPosition | null = null;
  let isFull = false;
  let isComplete = false;
  try {
    for (;;) {
      const head = await nextHead();
      if (head === null) {
        isComplete = true;
        break;
      }
      const positioned = head.batch[head.index++];
      if (positioned === undefined) continue;
      if (!isFull) reached = positioned.position;
      if (positioned.line !== null) {
        matched++;
        if (!isFull && matched > request.offset) {
          lines.push(withOwner(positioned.line, positioned.position, head.owner));
          responseBytes += positioned.line.log.length;
        }
        isFull ||= lines.length >= limits.lines || responseBytes >= limits.responseBytes;
      }
      if (isSpent()) break;
    }
  } finally {
    for (const head of heads) await head.close();
  }
  return {
    lines,
    counted: matched,
    reached,
    isComplete,
    isLast: isComplete && matched <= request.offset + lines.length,
    live: sources.live,
  };

  function isSpent(): boolean {
    const elapsed = performance.now() - startedAt;
    if (scanned >= limits.scanBytes || elapsed >= limits.milliseconds) return true;
    return isFull && (matched >= limits.count || scanned >= limits.countBytes);
  }

  /** Returns the source with the next line. Opens a source when its first line may be the next one. */
  async function nextHead(): Promise<Head | null> {
    for (const head of [...heads]) {
      if (head.index < head.batch.length) continue;
      const { value, done } = await head.batches.next();
      head.batch = value ?? [];
      head.index = 0;
      if (done !== true) continue;
      heads.splice(heads.indexOf(head), 1);
      await head.close();
    }
    for (;;) {
      const best = firstOf(heads);
      const source = await sources.peek();
      if (source === null || (best !== null && !isDue(source, best))) return best;
      sources.take();
      const head = await openHead(source);
      if (head !== null) heads.push(head);
    }
  }

  function isDue(source: OutputSource, best: Head): boolean {
    const at = best.batch[best.index]?.position.at ?? 0;
    // Times in rows are rounded to milliseconds.
    return order === 'asc' ? source.due <= at + 1000 : source.due >= at - 1000;
  }

  async function openHead(source: OutputSource): Promise<Head | null> {
    const mask = await context.maskOf(source.owner.deployment_id);
    const opened = await source.open();
    scanned += sourceBytes;
    if (opened === null) return null;
    const { filter, after, from, to } = request;
    const readRequest = { order, filter, mask, after, from, to };
    const batches = readOutput(source.owner.instance_id, opened, readRequest, (bytes) => {
      scanned += bytes;
    });
    const close = async () => {
      await batches.return(undefined);
      await opened.handle.close();
    };
    try {
      const { value, done } = await batches.next();
      if (done !== true) return { owner: source.owner, batches, close, batch: value, index: 0 };
    } catch (error) {
      await close();
      throw error;
    }
    await close();
    return null;
  }

  function firstOf(all: readonly Head[]): Head | null {
    let best: Head | null = null;
    for (const head of all) {
      const mine = head.batch[head.index]?.position;
      const other = best?.batch[best.index]?.position;
      if (mine === undefined) continue;
      if (other === undefined || comparePositions(mine, other) * (order === 'asc' ? 1 : -1) < 0) best = head;
    }
    return best;
  }
}

function spanOf({ order, after, from, to }: PageRequest) {
  if (after === null) return { order, from, to };
  return order === 'asc'
    ? { order, from: Math.max(from, after.at), to }
    : { order, from, to: Math.min(to, after.at + 1) };
}

function withOwner(line: NonNullable<PositionedLine['line']>, { at }: LogPosition, owner: LogOwner): LogLine {
  const requested = owner.requested_at?.getTime();
  return {
    ...line,
    deploymentId: owner.deployment_id,
    instanceId: owner.instance_id,
    sessionId: owner.session_id,
    ...(requested !== undefined && at < requested * 1000 ? { beforeSession: true } : {}),
  };
}
