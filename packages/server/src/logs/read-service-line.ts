import { isAfter, type OutputReadRequest, type PositionedLine } from './read-output.ts';
import { formatTimestamp, isLevelAtLeast } from './scan-lines.ts';
import type { ServiceLine } from './sources.ts';

/** Yields a line of the service itself if it matches. It contains no output of a bot, so it needs no mask. */
export async function* readServiceLine(
  id: string,
  { at, level, text }: ServiceLine,
  { order, filter, after, from, to }: Omit<OutputReadRequest, 'mask'>,
): AsyncGenerator<readonly PositionedLine[]> {
  const position = { at, instanceId: id, offset: order === 'asc' ? text.length : 0 };
  const isWanted =
    at >= from &&
    at < to &&
    (after === null || isAfter(order, position, after)) &&
    (filter.text === undefined || text.toLowerCase().includes(filter.text)) &&
    (filter.level === undefined || isLevelAtLeast(level, filter.level));
  if (isWanted) yield [{ position, decode: () => ({ log: text, level, timestamp: formatTimestamp(at, 0) }) }];
}
