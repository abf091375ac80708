import { closeSync, ftruncateSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { OffsetRange } from '../../runtime.ts';
import { runProgram } from '../../spawner.ts';
import { replaceFile } from '../records/replace-file.ts';
import { lastOffset, type OutputFiles, readBase, readGap, readLastBytes } from './output-files.ts';
import { gapToDrop } from './output-gap.ts';

export type OutputLimiterOptions = {
  readonly files: OutputFiles;
  readonly limitBytes: number;
  readonly searchPath: string;
  /** Whether the output has ended. Its file is then not truncated any more. */
  readonly isFinished: () => boolean;
  /** Called after the file was emptied, with the offset at which it now begins. */
  readonly onTruncated: (base: number) => void;
  /** Called once, when output is dropped for the first time. */
  readonly onDropped: (bytes: number) => void;
  readonly onError: (error: unknown) => void;
};

/** Keeps an output file within its limit: frees the blocks of its middle, or empties it where that is impossible. */
export type OutputLimiter = {
  /** The offset at which the output file begins. */
  readonly base: () => number;
  readonly replaceBase: (next: number) => void;
  /** Begins to drop output above the limit. Does nothing if an earlier drop is still in progress, unless `isLast` is true. */
  readonly limit: (fileBytes: number, isLast: boolean) => void;
};

export function createOutputLimiter(options: OutputLimiterOptions): OutputLimiter {
  const { files, limitBytes } = options;
  let base = readBase(files);
  let gap = readGap(files);
  let hasDropped = gap !== null;
  let dropping: Promise<void> | null = null;

  const replaceBase = (next: number) => {
    replaceFile(files.base, JSON.stringify(next));
    base = next;
  };

  /**
   * Records the gap before its blocks are freed, so that readers already skip it. If this server is killed in between, the next
   * gap includes these blocks and frees them.
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
    else if (!options.isFinished()) truncate();
  };

  const reportDropped = (bytes: number) => {
    if (!hasDropped) options.onDropped(bytes);
    hasDropped = true;
  };

  /** Empties an output file that is too long or cannot have holes, after its last lines were stored in another file. */
  const truncate = () => {
    const file = openSync(files.output, 'r+');
    try {
      writeFileSync(files.truncatedTail, readLastBytes(files.output), { mode: 0o600 });
      const { size } = statSync(files.output);
      replaceBase(Math.min(base + size, lastOffset));
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
      if (base + fileBytes > lastOffset) return truncate();
      if (dropping !== null && !isLast) return;
      const next = gapToDrop({ path: files.output, base, size: fileBytes, gap, limitBytes });
      if (next !== null) drop(next);
    },
  };
}

/**
 * Frees the blocks of a range of a file while other processes may write, with `fallocate` of util-linux, because Node lacks the
 * system call. Returns false if `fallocate` is missing or the file system does not support holes.
 */
async function punchHole(path: string, from: number, to: number, searchPath: string): Promise<boolean> {
  const range = ['--punch-hole', '--offset', String(from), '--length', String(to - from)];
  const options = { cwd: '/', env: { PATH: `${searchPath}:/usr/bin:/bin` }, stallMs: 10_000 };
  return runProgram(['fallocate', ...range, path], options).then(
    ({ code }) => code === 0,
    () => false,
  );
}
