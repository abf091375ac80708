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
import { nextGap } from './output-gap.ts';
import { formatEnd, formatMark, parseEnd, parseMarks, readMarksText } from './output-marks.ts';
import { punchHole } from './punch-hole.ts';

const NOTE_INTERVAL_MILLISECONDS = 100;

export type OutputOptions = {
  readonly files: InstanceFiles;
  readonly clock: MonotonicClock;
  /** Bytes that are kept: the first quarter of it, and at least the last half. */
  readonly limitBytes: number;
  /** Whether a server has looked at this output before, and what came since was unattended. */
  readonly adopted: boolean;
  /** Where programs are looked for. */
  readonly searchPath: string;
  readonly onDropped: (bytes: number) => void;
  readonly onError: (error: unknown) => void;
};

/**
 * Follows one instance's output file, to which the bot itself appends: marks when how much of it was seen, bounds it, and
 * wakes readers. Offsets are counted from the instance's start.
 */
export type Output = {
  /** Looks now. */
  readonly note: () => void;
  readonly describe: () => Promise<OutputFile | null>;
  /** Resolves when there is a mark after `since`, or at `finish`. `stop` ends the wait. */
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
  let noted = earlier?.end ?? 0;
  let notedAt: Timestamp = earlier?.at ?? 0;
  let finished = false;
  let isFailing = false;
  let hasDropped = gap !== null;
  let dropping: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let missed = false;
  const waiting = new Set<() => void>();
  let endedAt = parseEnd(written);
  clock.after(endedAt ?? notedAt);

  const wake = () => {
    const woken = [...waiting];
    waiting.clear();
    for (const resolve of woken) resolve();
  };

  const look = (isLast = false) => {
    const size = statSync(files.output, { throwIfNoEntry: false })?.size;
    if (size === undefined) return;
    // The bot can cut its own output; what it writes then is new.
    if (base + size < noted) replaceBase(noted);
    const end = Math.min(base + size, LAST_OFFSET);
    if (end > noted) {
      const at = clock.next();
      appendFileSync(files.marks, formatMark({ end, at, unattended }), { mode: 0o600 });
      noted = end;
      notedAt = at;
    }
    unattended = false;
    if (!finished && base + size > LAST_OFFSET) cut();
    else if (!finished && (isLast || dropping === null)) {
      const next = nextGap({ path: files.output, base, size, gap, limitBytes });
      if (next !== null) drop(next);
    }
    wake();
  };

  const replaceBase = (next: number) => {
    replaceFile(files.base, JSON.stringify(next));
    base = next;
  };

  /**
   * Readers pass over the gap from the moment that it is recorded. If the server is killed before the blocks are given back, that
   * happens with the next gap.
   */
  const drop = (next: OffsetRange) => {
    replaceFile(files.gap, JSON.stringify(next));
    gap = next;
    const punching = (dropping ?? Promise.resolve())
      .then(() => giveBack(next))
      .catch(options.onError)
      .finally(() => {
        if (dropping === punching) dropping = null;
      });
    dropping = punching;
  };

  const giveBack = async ({ from, to }: OffsetRange) => {
    const isPunched = await punchHole(files.output, from - base, to - base, options.searchPath);
    if (isPunched) reportDropped(to - from);
    else if (!finished) cut();
  };

  const reportDropped = (bytes: number) => {
    if (!hasDropped) options.onDropped(bytes);
    hasDropped = true;
  };

  /**
   * Where a file cannot have holes, or is too long for offsets, all of it goes, but for the last lines. A kill between the two
   * writes makes the base too high by what is in the file: offsets still rise.
   */
  const cut = () => {
    const file = openSync(files.output, 'r+');
    try {
      writeFileSync(files.kept, readLastBytes(files.output), { mode: 0o600 });
      const { size } = statSync(files.output);
      replaceBase(Math.min(base + size, LAST_OFFSET));
      ftruncateSync(file, 0);
      rmSync(files.gap, { force: true });
      gap = null;
      noted = Math.max(noted, base);
      reportDropped(size);
    } finally {
      closeSync(file);
    }
  };

  const note = (isLast = false) => {
    try {
      look(isLast);
      isFailing = false;
    } catch (error) {
      // Once, as a full disk fails each look.
      if (!isFailing) options.onError(error);
      isFailing = true;
    }
  };

  const markEnd = () => {
    // It may have been handed over already, by a server that was killed before it forgot the instance.
    if (endedAt !== null || !existsSync(files.output)) return;
    endedAt = clock.next();
    try {
      appendFileSync(files.marks, formatEnd(endedAt), { mode: 0o600 });
    } catch (error) {
      options.onError(error);
    }
  };

  const noteSoon = () => {
    if (timer !== null) {
      missed = true;
      return;
    }
    note();
    timer = setTimeout(() => {
      timer = null;
      if (missed) {
        missed = false;
        noteSoon();
      }
    }, NOTE_INTERVAL_MILLISECONDS);
    timer.unref();
  };

  let watcher: FSWatcher | null = null;
  const close = () => {
    watcher?.close();
    watcher = null;
    if (timer !== null) clearTimeout(timer);
  };
  note();
  try {
    if (existsSync(files.output)) {
      watcher = watch(files.output, { persistent: false }, noteSoon);
      watcher.on('error', options.onError);
    }
  } catch (error) {
    // Out of watches: the tick looks each second.
    options.onError(error);
  }
  return {
    note: () => note(),
    describe: () => describeOutput(files, finished),
    changed: (since) => {
      let stop = () => {};
      const done = new Promise<void>((resolve) => {
        if (finished || notedAt > since) return resolve();
        waiting.add(resolve);
        stop = () => waiting.delete(resolve);
      });
      return { done, stop };
    },
    finish: () => {
      close();
      note(true);
      finished = true;
      markEnd();
      wake();
    },
    tail: () => readTail(files),
    close,
  };
}
