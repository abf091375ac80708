import type { Statistics, StatisticsPoint } from '@bothost/contract';
import { formatTimeRange } from '../components/format.ts';

type Capacity = Pick<Statistics, 'stepSeconds'> & {
  readonly points: readonly Pick<StatisticsPoint, 'at' | 'openAtMost' | 'limit'>[];
};

/**
 * Says when the limit of sessions was reached, and explains sessions above it. Undefined if there is nothing to say. The limit is that
 * at the end of each interval, so more sessions than that do not mean that an earlier, higher limit was reached.
 */
export function describeCapacity({ points, stepSeconds }: Capacity, hasAgents: boolean, now: Date): string | undefined {
  const sentences: string[] = [];
  const last = points.findLast(({ openAtMost, limit }) => limit > 0 && openAtMost === limit);
  if (last !== undefined) {
    const from = new Date(last.at);
    const times = formatTimeRange(from, new Date(from.getTime() + stepSeconds * 1_000), now);
    sentences.push(
      `${hasAgents ? 'All agents together reached their limits' : 'The limit was reached'}, last from ${times}.`,
    );
  }
  if (points.some(({ openAtMost, limit }) => openAtMost > limit)) {
    sentences.push('Sessions above the limit began before it was lowered, or before their agent was deleted.');
  }
  return sentences.length === 0 ? undefined : sentences.join(' ');
}
