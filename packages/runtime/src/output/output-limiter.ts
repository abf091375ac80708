import { closeSync, ftruncateSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { OutputOffsetRange } from '../runtime.ts';
import { runProgram } from '../spawner.ts';
import { writeJsonAtomically } from '../write-json-atomically.ts';
import {
  maxOutputOffsetBytes,
  type OutputFiles,
  readDroppedOutputRange,
  readLastBytes,
  readOutputBaseOffset,
} from './output-files.ts';
import { selectOutputToDrop } from './output-gap.ts';

export type OutputLimiterOptions = {
  readonly files: OutputFiles;
  readonly limitBytes: number;
  readonly searchPath: string;
  /** Whether the output has ended. If so, the limiter neither drops more of it nor empties the output file. */
  readonly isFinished: () => boolean;
  /** Called after the output file was emptied. `base` is the offset in the whole output at which the next written byte lies. */
  readonly onTruncated: (base: number) => void;
  /** Called once, when output is dropped for the first time. */
  readonly onDropped: (bytes: number) => void;
  readonly onError: (error: unknown) => void;
};

/**
 * Limits the size of an output file: frees the blocks in the middle of the file, or empties the file if blocks cannot be freed.
 */
export type OutputLimiter = {
  /** Offset, in the whole output, of the first byte of the output file. */
  readonly base: () => number;
  readonly replaceBase: (next: number) => void;
  /** Frees disk space above the limit, in the background and once at a time. `isLast` marks the call after the end of the bot. */
  readonly limit: (fileBytes: number, isLast: boolean) => void;
};

export function createOutputLimiter(options: OutputLimiterOptions): OutputLimiter {
  const { files, limitBytes } = options;
  let base = readOutputBaseOffset(files);
  let gap = readDroppedOutputRange(files);
  let hasDropped = gap !== null;
  let dropping: Promise<void> | null = null;

  const replaceBase = (next: number) => {
    writeJsonAtomically(files.base, next);
    base = next;
  };

  /**
   * Drops a range of the output. First records the range in a file, so that readers skip it, and then frees the disk blocks in
   * the range. If the server is killed in between, the next call frees these blocks too, because its range includes this range.
   */
  const drop = (next: OutputOffsetRange) => {
    writeJsonAtomically(files.gap, next);
    gap = next;
    const punching = (dropping ?? Promise.resolve())
      .then(() => punchGap(next))
      .catch(options.onError)
      .finally(() => {
        if (dropping === punching) dropping = null;
      });
    dropping = punching;
  };

  const punchGap = async ({ from, to }: OutputOffsetRange) => {
    const isPunched = await punchHole(files.output, from - base, to - base, options.searchPath);
    if (isPunched) reportDropped(to - from);
    else if (!options.isFinished()) truncate();
  };

  const reportDropped = (bytes: number) => {
    if (!hasDropped) options.onDropped(bytes);
    hasDropped = true;
  };

  /**
   * Copies the last lines of the output file to another file, and empties the output file. Used if blocks in the middle of the
   * file cannot be freed, or if offsets in the output would exceed `maxOutputOffsetBytes`.
   */
  const truncate = () => {
    const file = openSync(files.output, 'r+');
    try {
      writeFileSync(files.truncatedTail, readLastBytes(files.output), { mode: 0o600 });
      const { size } = statSync(files.output);
      replaceBase(Math.min(base + size, maxOutputOffsetBytes));
      ftruncateSync(file, 0);
      rmSync(files.gap, { force: true });
      gap = null;
      options.onTruncated(base);
      reportDropped(size);
    } finally {
      closeSync(file);
    }
  };

  return {
    base: () => base,
    replaceBase,
    limit: (fileBytes, isLast) => {
      if (options.isFinished()) return;
      if (base + fileBytes > maxOutputOffsetBytes) return truncate();
      if (dropping !== null && !isLast) return;
      const next = selectOutputToDrop({ path: files.output, base, size: fileBytes, gap, limitBytes });
      if (next !== null) drop(next);
    },
  };
}

/** The number of the system call fallocate(2) on each CPU architecture. */
const fallocateNumbers: { readonly [architecture: string]: number } = { x64: 285, arm64: 47 };
/** FALLOC_FL_PUNCH_HOLE and FALLOC_FL_KEEP_SIZE. */
const punchHoleMode = 3;
const perlFallocate = `
my ($path, $number, $mode, $offset, $length) = @ARGV;
open(my $file, '+<', $path) or exit 1;
exit(syscall($number + 0, fileno($file), $mode + 0, $offset + 0, $length + 0) != 0)`;

/**
 * Frees the blocks of a range of a file while other processes may write. Returns false if that is impossible, for example
 * because the file system does not support holes. Runs `perl`, because Node lacks the system call. `fallocate` of util-linux is
 * only the fallback, because its fsync would slow down the database.
 */
async function punchHole(path: string, from: number, to: number, searchPath: string): Promise<boolean> {
  const options = { cwd: '/', env: { PATH: `${searchPath}:/usr/bin:/bin` }, stallMs: 10_000 };
  const succeeds = (command: readonly string[]) =>
    runProgram(command, options).then(
      ({ code }) => code === 0,
      () => false,
    );
  const range = [String(from), String(to - from)] as const;
  const number = fallocateNumbers[process.arch];
  const perl = ['perl', '-e', perlFallocate, path, String(number), String(punchHoleMode), ...range];
  if (number !== undefined && (await succeeds(perl))) return true;
  return succeeds(['fallocate', '--punch-hole', '--offset', range[0], '--length', range[1], path]);
}
