import { FactTable } from '../components/fact-list.tsx';
import { formatLatency } from '../components/format.ts';
import { Section } from '../components/section.tsx';
import { computeMedian } from './median.ts';
import type { TalkState } from './talk-state.ts';

/** The times to the first byte of the services of a bot. Nothing until the bot has reported one. */
export function ServiceTimes({ serviceTimesMs }: Pick<TalkState, 'serviceTimesMs'>) {
  if (serviceTimesMs.size === 0) return null;
  return (
    <Section title="Services" lead="Time to the first byte: the last one, and the median.">
      <div className="px-5 py-4 tabular-nums sm:px-6">
        <FactTable
          facts={[...serviceTimesMs].map(([name, times]) => [
            name,
            `${formatLatency(times.at(-1) ?? 0)}, ${formatLatency(computeMedian(times))}`,
          ])}
        />
      </div>
    </Section>
  );
}
