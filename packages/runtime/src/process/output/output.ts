import {
  appendFileSync,
  closeSync,
  existsSync,
  type FSWatcher,
  ftruncateSync,
  openSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs';
import type { OffsetRange, OutputFile, Timestamp } from '../../runtime.ts';
import { type InstanceFiles, replaceFile } from '../instances/instance-record.ts';
import type { MonotonicClock } from './monotonic-clock.ts';
import {
  describeOutput,
  LAST_OFFSET,
  outputFiles,
  readBase,
  readGap,
  readLastBytes,
  readTail,
} from './output-files.ts';
import { gapToDrop } from './output-gap.ts';
import { formatEnd, formatMark, parseEnd, parseMarks, readMarksText } from './output-marks.ts';
import { punchHole } from './punch-hole.ts';

const POLL_INTERVAL_MILLISECONDS = 100;

export type OutputOptions = {
  readonly files: InstanceFiles;
  readonly clock: MonotonicClock;
  /** Limit of the kept output in bytes: the first quarter of the limit, and at least its last half. */
  readonly limitBytes: number;
  /**
   * Whether an earlier server followed this output. Output that was written before this server started is then marked
   * as `unattended`.
   */
  readonly adopted: boolean;
  /** `PATH` in which programs are searched. */
  readonly searchPath: string;
  readonly onDropped: (bytes: number) => void;
  readonly onError: (error: unknown) => void;
};

/**
 * Follows the output file that a bot appends to: marks which part was read when, limits the size, and notifies readers.
 * Offsets count from the instance's start.
 */
export type Output = {
  /** Marks output that was written since the last mark. */
  readonly poll: () => void;
  readonly describe: () => Promise<OutputFile | null>;
  /** Resolves when there is a mark after `since`, or at `finish`. `stop` cancels the wait. */
  readonly changed: (since: Timestamp) => { readonly done: Promise<void>; readonly stop: () => void };
  readonly finish: () => void;
  readonly tail: () => string;
  readonly close: () => void;
};

export function openOutput(options: OutputOptions): Output {
  const files = outputFiles(options.files.log);
  const { limitBytes, clock } = options;
  const written = options.adopted ? readMarksText(files.marks) : '';
  const earlier = parseMarks(written).at(-1);
  let base = readBase(files);
  let gap = readGap(files);
  let unattended = options.adopted;
  let markedEnd = earlier?.end ?? 0;
  let markedAt: Timestamp = earlier?.at ?? 0;
  let finished = false;
  let isFailing = false;
  let hasDropped = gap !== null;
  let dropping: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isPollDue = false;
  const waiting = new Set<() => void>();
  let endedAt = parseEnd(written);
  clock.after(endedAt ?? markedAt);

  const wake = () => {
    const woken = [...waiting];
    waiting.clear();
    for (const resolve of woken) resolve();
  };

  const scan = (isLast = false) => {
    const size = statSync(files.output, { throwIfNoEntry: false })?.size;
    if (size === undefined) return;
    // The bot has truncated its own output. Everything that it writes afterwards is new.
    if (base + size < markedEnd) replaceBase(markedEnd);
    const end = Math.min(base + size, LAST_OFFSET);
    if (end > markedEnd) {
      const at = clock.next();
      appendFileSync(files.marks, formatMark({ end, at, unattended }), { mode: 0o600 });
      markedEnd = end;
      markedAt = at;
    }
    unattended = false;
    if (!finished && base + size > LAST_OFFSET) truncate();
    else if (!finished && (isLast || dropping === null)) {
      const next = gapToDrop({ path: files.output, base, size, gap, limitBytes });
      if (next !== null) drop(next);
    }
    wake();
  };

  const replaceBase = (next: number) => {
    replaceFile(files.base, JSON.stringify(next));
    base = next;
  };

  /**
   * Record the gap first, because readers then skip it. If the server is killed before it frees the blocks, the next
   * gap frees them.
   */
  const drop = (next: OffsetRange) => {
    replaceFile(files.gap, JSON.stringify(next));
    gap = next;
    const punching = (dropping ?? Promise.resolve())
      .then(() => punchGap(next))
      .catch(options.onError)
      .finally(() => {
        if (dropping === punching) dropping = null;
      });
    dropping = punching;
  };

  const punchGap = async ({ from, to }: OffsetRange) => {
    const isPunched = await punchHole(files.output, from - base, to - base, options.searchPath);
    if (isPunched) reportDropped(to - from);
    else if (!finished) truncate();
  };

  const reportDropped = (bytes: number) => {
    if (!hasDropped) options.onDropped(bytes);
    hasDropped = true;
  };

  /**
   * Empties an output file that cannot have holes or is too long, but keeps its last lines. After a kill between the
   * two writes, the base is too high by the size of the file, but offsets still increase.
   */
  const truncate = () => {
    const file = openSync(files.output, 'r+');
    try {
      writeFileSync(files.truncatedTail, readLastBytes(files.output), { mode: 0o600 });
      const { size } = statSync(files.output);
      replaceBase(Math.min(base + size, LAST_OFFSET));
      ftruncateSync(file, 0);
      rmSync(files.gap, { force: true });
      gap = null;
      markedEnd = Math.max(markedEnd, base);
      reportDropped(size);
    } finally {
      closeSync(file);
    }
  };

  const poll = (isLast = false) => {
    try {
      scan(isLast);
      isFailing = false;
    } catch (error) {
      // Report the error only once, because with a full disk each poll fails.
      if (!isFailing) options.onError(error);
      isFailing = true;
    }
  };

  const markEnd = () => {
    // An earlier server may have moved the output and been killed before it removed the instance.
    if (endedAt !== null || !existsSync(files.output)) return;
    endedAt = clock.next();
    try {
      appendFileSync(files.marks, formatEnd(endedAt), { mode: 0o600 });
    } catch (error) {
      options.onError(error);
    }
  };

  const pollSoon = () => {
    if (timer !== null) {
      isPollDue = true;
      return;
    }
    poll();
    timer = setTimeout(() => {
      timer = null;
      if (isPollDue) {
        isPollDue = false;
        pollSoon();
      }
    }, POLL_INTERVAL_MILLISECONDS);
    timer.unref();
  };

  let watcher: FSWatcher | null = null;
  const close = () => {
    watcher?.close();
    watcher = null;
    if (timer !== null) clearTimeout(timer);
  };
  poll();
  try {
    if (existsSync(files.output)) {
      watcher = watch(files.output, { persistent: false }, pollSoon);
      watcher.on('error', options.onError);
    }
  } catch (error) {
    // For example, because no inotify watches are left. The watchdog then polls each second.
    options.onError(error);
  }
  return {
    poll: () => poll(),
    describe: () => describeOutput(files, finished),
    changed: (since) => {
      let stop = () => {};
      const done = new Promise<void>((resolve) => {
        if (finished || markedAt > since) return resolve();
        waiting.add(resolve);
        stop = () => waiting.delete(resolve);
      });
      return { done, stop };
    },
    finish: () => {
      close();
      poll(true);
      finished = true;
      markEnd();
      wake();
    },
    tail: () => readTail(files),
    close,
  };
}
