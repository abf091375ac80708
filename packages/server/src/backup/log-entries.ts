import { basename, join } from 'node:path';
import type { InstanceOutputStore, OutputFile, OutputOffsetRange } from '@bothost/runtime';
import type { Logger } from 'pino';
import { iterateDirectoryEntries, iterateSparseEntries } from './file-entries.ts';
import type { TarEntry } from './tar.ts';

export type LogBackupContext = {
  readonly outputs: Pick<InstanceOutputStore, 'findReleased'>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly dataDirectory: string;
  /** Maximum size of a session's stored output, in bytes. */
  readonly outputLimitBytes: number;
};

/**
 * Returns tar entries for the stored output of an instance, without the byte ranges that were dropped to limit its size. Omits
 * an output file that is far above its size limit, because a bot can extend its sparse file to exabytes.
 */
export async function* iterateLogEntries(context: LogBackupContext, directory: string): AsyncGenerator<TarEntry> {
  const { dataDirectory } = context;
  const file = await context.outputs.findReleased(join(dataDirectory, directory));
  if (file === null) return;
  const ranges = keptRanges(file);
  const bytes = ranges.reduce((sum, { from, to }) => sum + to - from, 0);
  if (bytes > 2 * context.outputLimitBytes) {
    context.logger.warn({ directory, bytes }, 'session log omitted from backup: far above its size limit');
    return;
  }
  const output = basename(file.path);
  yield* iterateSparseEntries(dataDirectory, `${directory}/${output}`, ranges);
  yield* iterateDirectoryEntries(dataDirectory, directory, (name) => name !== output);
}

/** The byte ranges of the output file that were not dropped, followed by an empty range at the end of the file. */
function keptRanges({ base, dropped, marks }: OutputFile): readonly OutputOffsetRange[] {
  const end = marks.at(-1)?.end ?? base;
  const starts = [base, ...dropped.map(({ to }) => to)];
  const ends = [...dropped.map(({ from }) => from), end];
  return [...starts.map((from, i) => ({ from, to: ends[i] ?? end })), { from: end, to: end }]
    .map(({ from, to }) => ({ from: Math.max(from, base) - base, to: Math.max(to, base) - base }))
    .filter(({ from, to }) => to > from || from === end - base);
}
