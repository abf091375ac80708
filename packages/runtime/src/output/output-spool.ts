import {
  appendFileSync,
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs';
import type { EpochMicroseconds } from '../runtime.ts';
import type { RecordedOutput } from './instance-outputs.ts';
import { createMonotonicClock, type MonotonicClock } from './monotonic-clock.ts';
import { getOutputFiles, readOutputFileMetadata, readTail } from './output-files.ts';
import { createOutputLimiter } from './output-limiter.ts';
import {
  formatOutputEndTimestamp,
  formatOutputTimestamp,
  parseOutputEndTimestamp,
  parseOutputTimestamps,
} from './output-marks.ts';

/** Output within this time has one mark. */
const markMicroseconds = 50_000;
/** Milliseconds until received output is written. */
const flushMs = 20;
const flushBytes = 256 * 1024;

export type SpoolClock = MonotonicClock & {
  /** Returns the last timestamp of `next`, which a reader has got. Output that is recorded later gets a later timestamp. */
  readonly last: () => EpochMicroseconds;
};

export function createSpoolClock(now: () => Date): SpoolClock {
  const clock = createMonotonicClock(now);
  let last: EpochMicroseconds = 0;
  return {
    ...clock,
    next: () => {
      last = clock.next();
      return last;
    },
    last: () => last,
  };
}

export type OutputSpoolOptions = {
  readonly directory: string;
  /** Whether a previous server process finished the copy. It may have moved it, too. */
  readonly isFinished: boolean;
  readonly limitBytes: number;
  readonly searchPath: string;
  readonly clock: SpoolClock;
  readonly onDropped: (bytes: number) => void;
  readonly onError: (error: unknown) => void;
};

/** The platform's output of an instance, copied to the files that all drivers use. Continues after `recordedAt` after a restart. */
export type OutputSpool = RecordedOutput & {
  /** The platform's timestamp of the last output in the copy. */
  readonly recordedAt: () => EpochMicroseconds;
  /** Adds output with the platform's timestamp. */
  readonly append: (at: EpochMicroseconds, bytes: Uint8Array) => void;
  readonly finish: (at: EpochMicroseconds) => void;
  readonly close: () => void;
};

export function openOutputSpool(options: OutputSpoolOptions): OutputSpool {
  const files = getOutputFiles(options.directory);
  if (!options.isFinished) mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  const earlier = existsSync(files.marks) ? readFileSync(files.marks, 'latin1') : '';
  let { end, at } = parseOutputTimestamps(earlier).at(-1) ?? { end: 0, at: 0 };
  let endedAt = options.isFinished ? (parseOutputEndTimestamp(earlier) ?? at + 1) : null;
  const limiter = createOutputLimiter({
    ...options,
    files,
    isFinished: () => endedAt !== null,
    onTruncated: (base) => {
      end = Math.max(end, base);
    },
  });
  let file = endedAt === null ? openSync(files.output, 'a', 0o600) : null;
  /** Removes output without a mark, which a failed write or a killed server has left. The platform still has it. */
  const removeUnmarked = () => {
    if (file === null) return;
    const { size } = statSync(files.output);
    if (limiter.base() + size < end) limiter.replaceBase(end - size);
    else ftruncateSync(file, Math.max(end - limiter.base(), 0));
  };
  removeUnmarked();

  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let pendingSince: EpochMicroseconds = 0;
  let receivedAt = readReceivedAt(earlier);
  let timer: NodeJS.Timeout | undefined;
  let isFailing = false;
  const waiting = new Set<() => void>();
  const wake = () => {
    const woken = [...waiting];
    waiting.clear();
    for (const resolve of woken) resolve();
  };

  const write = () => {
    if (file === null) return;
    const bytes = Buffer.concat(pending);
    writeSync(file, bytes);
    const markAt = Math.max(receivedAt, at + 1, options.clock.last() + 1);
    const mark = { end: end + bytes.length, at: markAt, unattended: false };
    const received = markAt === receivedAt ? '' : formatReceivedAt(receivedAt);
    appendFileSync(files.marks, formatOutputTimestamp(mark) + received, { mode: 0o600 });
    options.clock.after(markAt);
    ({ end, at } = mark);
    pending = [];
    pendingBytes = 0;
    limiter.limit(statSync(files.output).size, false);
  };

  const close = () => {
    if (file !== null) closeSync(file);
    file = null;
  };

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (pending.length === 0) return;
    try {
      if (isFailing) removeUnmarked();
      write();
      isFailing = false;
    } catch (error) {
      if (!isFailing) options.onError(error);
      isFailing = true;
    }
    wake();
  };

  return {
    recordedAt: () => receivedAt,
    append: (next, bytes) => {
      if (endedAt !== null) return;
      if (pending.length > 0 && (next - pendingSince > markMicroseconds || pendingBytes > flushBytes)) flush();
      if (pending.length === 0) pendingSince = next;
      pending.push(bytes);
      pendingBytes += bytes.length;
      receivedAt = Math.max(receivedAt, next);
      timer ??= setTimeout(flush, flushMs).unref();
    },
    poll: flush,
    describe: () => {
      flush();
      return readOutputFileMetadata(files, endedAt !== null);
    },
    changed: (since) => {
      let stop = () => {};
      const done = new Promise<void>((resolve) => {
        if (endedAt !== null || at > since) return resolve();
        waiting.add(resolve);
        stop = () => waiting.delete(resolve);
      });
      return { done, stop };
    },
    tail: () => {
      flush();
      return readTail(files);
    },
    finish: (next) => {
      flush();
      if (endedAt !== null) return;
      close();
      endedAt = Math.max(next, at + 1, options.clock.last() + 1);
      try {
        appendFileSync(files.marks, formatOutputEndTimestamp(endedAt), { mode: 0o600 });
      } catch (error) {
        options.onError(error);
      }
      wake();
    },
    close: () => {
      flush();
      close();
    },
  };
}

/** A line of the file of marks that other readers skip: the platform's timestamp of the output before, if the mark is later. */
const formatReceivedAt = (at: EpochMicroseconds) => `\n${at} r`;

function readReceivedAt(marks: string): EpochMicroseconds {
  const last = [...marks.matchAll(/^(?:\d+ (\d+) [au]|(\d+) r)$/gm)].at(-1);
  return Number(last?.[1] ?? last?.[2] ?? 0);
}
