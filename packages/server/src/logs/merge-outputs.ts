import type { SecretMask } from './mask.ts';
import { comparePositions, type LogPosition, type SortOrder } from './position.ts';
import { type PositionedLine, readOutput } from './read-output.ts';
import { readServiceLine } from './read-service-line.ts';
import type { InstanceWithLogs } from './rows.ts';
import type { LineFilter } from './scan-lines.ts';
import type { LogOutput, LogOutputQueue } from './sources.ts';

export type MaskLookup = (deploymentId: string) => Promise<SecretMask>;

type MergeRequest = {
  readonly order: SortOrder;
  readonly filter: LineFilter;
  readonly after: LogPosition | null;
  readonly from: number;
  readonly to: number;
};

export type MergedLogReader = {
  /** The next line of all outputs in order, or null after the last. Decode a line before requesting the next one. */
  readonly next: () => Promise<(PositionedLine & { readonly instance: InstanceWithLogs }) | null>;
  readonly scannedBytes: () => number;
  readonly close: () => Promise<void>;
};

/** Added to `scannedBytes` per output, so that opening many small outputs uses up the read limit too. */
const sourceBytes = 16 * 1024;

type Head = {
  readonly instance: InstanceWithLogs;
  readonly batches: AsyncGenerator<readonly PositionedLine[]>;
  readonly close: () => Promise<void>;
  batch: readonly PositionedLine[];
  index: number;
};

/**
 * Merges the lines of outputs in their total order. Opens an output only when its first line may be the next line of the merge.
 */
export function mergeOutputs(
  { maskOf }: { readonly maskOf: MaskLookup },
  { order, filter, after, from, to }: MergeRequest,
  sources: Pick<LogOutputQueue, 'peek' | 'take'>,
): MergedLogReader {
  const heads: Head[] = [];
  let scannedBytes = 0;

  async function nextHead(): Promise<Head | null> {
    await refill();
    for (;;) {
      const best = firstOf(heads);
      const source = await sources.peek();
      if (source === null || (best !== null && !isDue(source, best))) return best;
      sources.take();
      const head = await openHead(source);
      if (head !== null) heads.push(head);
    }
  }

  /** Reads the next batch of each output whose current batch is used up, and closes outputs that have no more lines. */
  async function refill(): Promise<void> {
    for (const head of [...heads]) {
      if (head.index < head.batch.length) continue;
      const { value, done } = await head.batches.next();
      head.batch = value ?? [];
      head.index = 0;
      if (done !== true) continue;
      heads.splice(heads.indexOf(head), 1);
      await head.close();
    }
  }

  function isDue(source: LogOutput, best: Head): boolean {
    const at = best.batch[best.index]?.position.at ?? 0;
    // Open an output up to a millisecond early, because the stored times of its first and last lines are rounded to
    // milliseconds.
    return order === 'asc' ? source.due <= at + 1000 : source.due >= at - 1000;
  }

  async function openHead(source: LogOutput): Promise<Head | null> {
    const mask = await maskOf(source.instance.deployment_id);
    const opened = await source.open();
    scannedBytes += sourceBytes;
    if (opened === null) return null;
    const request = { order, filter, mask, after, from, to };
    const id = source.instance.instance_id;
    const isFile = 'handle' in opened;
    const batches = isFile
      ? readOutput(id, opened, request, (bytes) => {
          scannedBytes += bytes;
        })
      : readServiceLine(id, opened, request);
    const close = async () => {
      await batches.return(undefined);
      if (isFile) await opened.handle.close();
    };
    try {
      const { value, done } = await batches.next();
      if (done !== true) return { instance: source.instance, batches, close, batch: value, index: 0 };
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
      const position = head.batch[head.index]?.position;
      const bestPosition = best?.batch[best.index]?.position;
      if (position === undefined) continue;
      if (bestPosition === undefined || comparePositions(position, bestPosition) * (order === 'asc' ? 1 : -1) < 0) {
        best = head;
      }
    }
    return best;
  }

  return {
    next: async () => {
      for (;;) {
        const head = await nextHead();
        if (head === null) return null;
        const line = head.batch[head.index++];
        if (line !== undefined) return { ...line, instance: head.instance };
      }
    },
    scannedBytes: () => scannedBytes,
    close: async () => {
      for (const head of heads) await head.close();
    },
  };
}
