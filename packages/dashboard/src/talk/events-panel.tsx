import { useState } from 'react';
import { formatElapsedTime } from '../components/format.ts';
import { Section } from '../components/section.tsx';
import { describeEvent } from './event-words.ts';
import type { LoggedEvent } from './talk-state.ts';

type EventsPanelProps = {
  readonly events: readonly LoggedEvent[];
  /** When the conversation began, in milliseconds since the Unix epoch. */
  readonly startedAt: number;
};

const shownAtMost = 100;

/** Lists the RTVI messages of a conversation, newest first. */
export function EventsPanel({ events, startedAt }: EventsPanelProps) {
  const [filter, setFilter] = useState('');
  const wanted = filter.trim().toLowerCase();
  const matching = events.filter(({ name, data }) =>
    [describeEvent(name, data), name, format(data)].some((text) => text.toLowerCase().includes(wanted)),
  );
  const shown = matching.slice(-shownAtMost).reverse();
  return (
    <Section
      title="Events"
      lead={`${matching.length} of ${events.length} messages${matching.length > shownAtMost ? `, the last ${shownAtMost} shown` : ''}`}
    >
      <div className="border-line border-b px-5 py-3 sm:px-6">
        <input
          type="search"
          aria-label="Filter events"
          placeholder="Filter by words or content"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
          className="min-h-9 w-full rounded-lg border border-field bg-surface px-3 text-sm"
        />
      </div>
      <ul
        aria-label="Events"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling list must be reachable by keyboard
        tabIndex={0}
        className="max-h-96 divide-y divide-line overflow-y-auto text-sm"
      >
        {shown.map(({ id, at, name, data }) => (
          <li key={id}>
            <details>
              <summary className="flex cursor-pointer gap-3 px-5 py-2 hover:bg-background sm:px-6">
                <span className="text-quiet tabular-nums">{formatElapsedTime(at - startedAt)}</span>
                <span className="wrap-anywhere">{describeEvent(name, data)}</span>
              </summary>
              <div className="bg-background px-5 py-2 sm:px-6">
                <code className="font-mono text-quiet text-xs">{name}</code>
                <pre className="overflow-x-auto font-mono text-xs">{format(data)}</pre>
              </div>
            </details>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function format(data: unknown): string {
  return data === undefined ? 'No data' : JSON.stringify(data, null, 2);
}
