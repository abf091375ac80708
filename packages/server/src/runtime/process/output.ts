import {
  appendFileSync,
  closeSync,
  type FSWatcher,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { type InstanceFiles, replaceFile } from './instance-record.ts';
import { formatMark, readMarks } from './output-marks.ts';

const TAIL_BYTES = 4096;
const NOTE_INTERVAL_MILLISECONDS = 100;

export type OutputOptions = {
  readonly files: InstanceFiles;
  readonly now: () => Date;
  /** Bytes of the file at which older output is cut. */
  readonly limitBytes: number;
  /** Whether a server has looked at this output before, and what came since was unattended. */
  readonly adopted: boolean;
  readonly onDropped: (bytes: number) => void;
  readonly onError: (error: unknown) => void;
};

/**
 * Follows one instance's output file, to which the bot itself appends: notes when how much of it was seen, cuts it at its
 * limit, and wakes readers. Offsets are counted from the instance's start, so they go on rising over a cut.
 */
export type Output = {
  /** Looks now. */
  readonly note: () => void;
  /** Resolves at the next look that finds something, or at `finish`. */
  readonly changed: () => Promise<void>;
  readonly finish: () => void;
  readonly isFinished: () => boolean;
  /** Offset of the file's first byte. */
  readonly base: () => number;
  readonly tail: () => string;
  readonly close: () => void;
};

export function openOutput(options: OutputOptions): Output {
  const { files } = options;
  let base = readBase(files);
  let unattended = options.adopted;
  let noted = options.adopted ? (readMarks(files.marks).at(-1)?.end ?? 0) : 0;
  let finished = false;
  let isFailing = false;
  let timer: NodeJS.Timeout | null = null;
  let missed = false;
  const waiting = new Set<() => void>();

  const wake = () => {
    const woken = [...waiting];
    waiting.clear();
    for (const resolve of woken) resolve();
  };

  const look = () => {
    const size = statSync(files.output, { throwIfNoEntry: false })?.size;
    if (size === undefined) return;
    // The bot can cut its own output; what it writes then is new.
    if (base + size < noted) replaceBase(noted);
    const end = base + size;
    if (end > noted) {
      appendFileSync(files.marks, formatMark({ end, at: options.now(), unattended }), { mode: 0o600 });
      noted = end;
    }
    unattended = false;
    if (size > options.limitBytes) cut();
    wake();
  };

  const replaceBase = (next: number) => {
    replaceFile(files.base, JSON.stringify(next));
    base = next;
  };

  /** A kill between the two writes makes the base too high by what is in the file: offsets still rise. */
  const cut = () => {
    const file = openSync(files.output, 'r+');
    try {
      writeFileSync(files.kept, readLastBytes(files.output), { mode: 0o600 });
      const size = statSync(files.output).size;
      replaceBase(base + size);
      ftruncateSync(file, 0);
      noted = Math.max(noted, base);
      options.onDropped(size);
    } finally {
      closeSync(file);
    }
  };

  const note = () => {
    try {
      look();
      isFailing = false;
    } catch (error) {
      // Once, as a full disk fails each look.
      if (!isFailing) options.onError(error);
      isFailing = true;
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
    watcher = watch(files.output, { persistent: false }, noteSoon);
    watcher.on('error', options.onError);
  } catch (error) {
    // Out of watches: the tick looks each second.
    options.onError(error);
  }
  return {
    note,
    changed: () => new Promise((resolve) => waiting.add(resolve)),
    finish: () => {
      close();
      note();
      finished = true;
      wake();
    },
    isFinished: () => finished,
    base: () => base,
    tail: () => readTail(files),
    close,
  };
}

function readBase(files: InstanceFiles): number {
  try {
    return Number(readFileSync(files.base, 'utf8'));
  } catch {
    return 0;
  }
}

/** The last lines, at most 4 KiB, also when the file was just cut. NUL, which no database keeps in a text, is replaced. */
export function readTail(files: InstanceFiles): string {
  return tailText(files).replaceAll('\0', '\ufffd');
}

function tailText(files: InstanceFiles): string {
  let bytes = readLastBytes(files.output);
  if (bytes.length < TAIL_BYTES) bytes = Buffer.concat([readLastBytes(files.kept), bytes]);
  if (bytes.length < TAIL_BYTES) return bytes.toString('utf8');
  const last = bytes.subarray(bytes.length - TAIL_BYTES);
  const newline = last.indexOf(10);
  let from = newline === -1 || newline === last.length - 1 ? 0 : newline + 1;
  // Not in the middle of a character.
  while (from < last.length && ((last[from] ?? 0) & 0xc0) === 0x80) from++;
  return last.toString('utf8', from);
}

function readLastBytes(path: string): Buffer {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return Buffer.alloc(0);
  }
  try {
    const bytes = Buffer.alloc(TAIL_BYTES);
    const size = statSync(path).size;
    return bytes.subarray(0, readSync(file, bytes, 0, TAIL_BYTES, Math.max(0, size - TAIL_BYTES)));
  } finally {
    closeSync(file);
  }
}
