import type { LogLine } from '@bothost/contract';
import type { LineFilter } from './find-lines.ts';
import type { Mask } from './mask.ts';
import { comparePositions, type Order, type Position } from './position.ts';
import { type PlacedLine, readOutput } from './read-output.ts';
import type { LogOwner, LogScope } from './rows.ts';
import { findSources, type Source, type SourcesContext } from './sources.ts';

/** What one request may cost; what it did not get to is for the next. */
export type PageLimits = {
  readonly lines: number;
  /** Of the lines of one page. */
  readonly answerBytes: number;
  /** Read from disk. */
  readonly scanBytes: number;
  readonly milliseconds: number;
  /** Up to how many lines are counted when the page is full, and how much may have been read for that. */
  readonly count: number;
  readonly countBytes: number;
};

export type PageRequest = {
  readonly scope: LogScope;
  readonly order: Order;
  readonly filter: LineFilter;
  readonly after: Position | null;
  readonly offset: number;
  /** The first moment, and the one after the last. */
  readonly from: number;
  readonly to: number;
  readonly limits: PageLimits;
};

export type Page = {
  readonly lines: readonly LogLine[];
  /** Lines that match and were looked at. */
  readonly counted: number;
  /** How far the page goes; null when it has nothing. */
  readonly reached: Position | null;
  /** All that there is up to `to` was looked at. */
  readonly isComplete: boolean;
  /** Nothing is left beyond the page. */
  readonly isLast: boolean;
  /** Instances that may write more. */
  readonly live: readonly string[];
};

/** `maskOf`: what nobody is to read in the output of a deployment's instances. */
export type PageContext = SourcesContext & { readonly maskOf: (deploymentId: string) => Promise<Mask> };

/** What opening an output counts for, however little is in it. */
const sourceBytes = 16 * 1024;

type Head = {
  readonly owner: LogOwner;
  readonly batches: AsyncGenerator<readonly PlacedLine[]>;
  readonly close: () => Promise<void>;
  batch: readonly PlacedLine[];
  index: number;
};

/** Merges the outputs of a scope into one order, as far as a page goes. */
export async function readPage(context: PageContext, request: PageRequest): Promise<Page> {
  const { order, limits } = request;
  const begun = performance.now();
  let scanned = 0;
  const sources = await findSources(context, request.scope, spanOf(request));
  const heads: Head[] = [];
  const lines: LogLine[] = [];
  let answerBytes = 0;
  let matched = 0;
  let reached: Position | null = null;
  let isFull = false;
  let isComplete = false;
  try {
    for (;;) {
      const head = await nextHead();
      if (head === null) {
        isComplete = true;
        break;
      }
      const placed = head.batch[head.index++];
      if (placed === undefined) continue;
      if (!isFull) reached = placed.position;
      if (placed.line !== null) {
        matched++;
        if (!isFull && matched > request.offset) {
          lines.push(withOwner(placed.line, placed.position, head.owner));
          answerBytes += placed.line.log.length;
        }
        isFull ||= lines.length >= limits.lines || answerBytes >= limits.answerBytes;
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
    const elapsed = performance.now() - begun;
    if (scanned >= limits.scanBytes || elapsed >= limits.milliseconds) return true;
    return isFull && (matched >= limits.count || scanned >= limits.countBytes);
  }

  /** The one whose next line comes first; a source is opened when its turn may have come. */
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

  function isDue(source: Source, best: Head): boolean {
    const at = best.batch[best.index]?.position.at ?? 0;
    // Dates of rows are whole milliseconds.
    return order === 'asc' ? source.due <= at + 1000 : source.due >= at - 1000;
  }

  async function openHead(source: Source): Promise<Head | null> {
    const mask = await context.maskOf(source.owner.deployment_id);
    const opened = await source.open();
    scanned += sourceBytes;
    if (opened === null) return null;
    const { filter, after, from, to } = request;
    const wanted = { order, filter, mask, after, from, to };
    const batches = readOutput(source.owner.instance_id, opened, wanted, (bytes) => {
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

function withOwner(line: NonNullable<PlacedLine['line']>, { at }: Position, owner: LogOwner): LogLine {
  const requested = owner.requested_at?.getTime();
  return {
    ...line,
    deploymentId: owner.deployment_id,
    instanceId: owner.instance_id,
    sessionId: owner.session_id,
    ...(requested !== undefined && at < requested * 1000 ? { beforeSession: true } : {}),
  };
}
