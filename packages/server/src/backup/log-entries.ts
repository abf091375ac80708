import { basename, join } from 'node:path';
import type { InstanceOutputs, OffsetRange, OutputFile } from '@bothost/runtime';
import type { Logger } from 'pino';
import { directoryEntries, sparseEntries } from './file-entries.ts';
import type { Entry } from './tar.ts';

export type LogsContext = {
  readonly outputs: Pick<InstanceOutputs, 'findReleased'>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly dataDirectory: string;
  /** The limit on the output of a session. */
  readonly outputLimitBytes: number;
};

/**
 * The stored output of an instance, without its dropped ranges. Leaves out an output far above its limit: a bot can extend its
 * sparse file to exabytes, and on a full disk the service cannot record that it dropped them.
 */
export async function* logEntries(context: LogsContext, directory: string): AsyncGenerator<Entry> {
  const { dataDirectory } = context;
  const file = await context.outputs.findReleased(join(dataDirectory, directory));
  if (file === null) return;
  const ranges = keptRanges(file);
  const bytes = ranges.reduce((sum, { from, to }) => sum + to - from, 0);
  if (bytes > 2 * context.outputLimitBytes) {
    context.logger.warn({ directory, bytes }, 'log left out of the backup: it is far above its limit');
    return;
  }
  const output = basename(file.path);
  yield* sparseEntries(dataDirectory, `${directory}/${output}`, ranges);
  yield* directoryEntries(dataDirectory, directory, (name) => name !== output);
}

/** The ranges that were not dropped, as offsets in the file, and an empty one at its end. */
function keptRanges({ base, dropped, marks }: OutputFile): readonly OffsetRange[] {
  const end = marks.at(-1)?.end ?? base;
  const starts = [base, ...dropped.map(({ to }) => to)];
  const ends = [...dropped.map(({ from }) => from), end];
  return [...starts.map((from, i) => ({ from, to: ends[i] ?? end })), { from: end, to: end }]
    .map(({ from, to }) => ({ from: Math.max(from, base) - base, to: Math.max(to, base) - base }))
    .filter(({ from, to }) => to > from || from === end - base);
}
