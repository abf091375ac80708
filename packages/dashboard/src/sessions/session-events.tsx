import { getStatusLabel, type SessionEvent, sessionEventLabels } from '@bothost/contract';
import { TextBlock } from '../components/text-block.tsx';
import { stripControlCharacters } from '../logs/log-text.ts';
import { formatTimeOfDay } from '../logs/log-time.ts';

/** Lists the events of a session with their causes. If the bot exited, shows its last output. */
export function SessionEvents({ events }: { readonly events: readonly SessionEvent[] }) {
  return (
    <ul className="divide-y divide-line">
      {events.map((event, index) => {
        const { tail, ...detail } = event.detail ?? {};
        const facts = Object.entries(detail).filter(([, value]) => value !== null && value !== false);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: events are only added at the end
          <li key={index} className="flex flex-col gap-2 px-5 py-4 sm:px-6">
            <div className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
              <span className="font-medium">{getStatusLabel<string>(sessionEventLabels, event.eventCode)}</span>
              <time dateTime={event.eventTs} className="text-quiet text-sm tabular-nums">
                {formatTimeOfDay(event.eventTs)}
              </time>
            </div>
            {facts.length > 0 && (
              <ul className="flex flex-wrap gap-x-4 gap-y-1 text-quiet text-sm">
                {facts.map(([name, value]) => (
                  <li key={name} className="wrap-anywhere">
                    {name}: {typeof value === 'string' ? value : JSON.stringify(value)}
                  </li>
                ))}
              </ul>
            )}
            {typeof tail === 'string' && tail.trim() !== '' && (
              <TextBlock label="Last output" text={stripControlCharacters(tail.trimEnd())} />
            )}
          </li>
        );
      })}
    </ul>
  );
}
