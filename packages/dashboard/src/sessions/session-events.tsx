import {
  describeSessionEventCause,
  getStatusLabel,
  readLastOutput,
  type SessionEvent,
  sessionEventLabels,
} from '@bothost/contract';
import { TextBlock } from '../components/text-block.tsx';
import { TimeOfDay } from '../components/time.tsx';
import { stripControlCharacters } from '../logs/log-text.ts';

type SessionEventsProps = {
  readonly events: readonly SessionEvent[];
  /** An output that another part of the page shows, so that the events do not repeat it. */
  readonly shownOutput: string | null;
};

/** Lists the events of a session with their causes. If the bot exited, shows its last output. */
export function SessionEvents({ events, shownOutput }: SessionEventsProps) {
  return (
    <ul className="divide-y divide-line">
      {events.map((event, index) => {
        const cause = describeSessionEventCause(event);
        const lastOutput = readLastOutput(event);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: events are only added at the end
          <li key={index} className="flex flex-col gap-2 px-5 py-4 sm:px-6">
            <div className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
              <span className="font-medium">{getStatusLabel<string>(sessionEventLabels, event.eventCode)}</span>
              <span className="text-quiet text-sm">
                <TimeOfDay at={new Date(event.eventTs)} isPrecise />
              </span>
            </div>
            {cause !== '' && <p className="text-quiet text-sm wrap-anywhere">{cause}</p>}
            {lastOutput !== null && lastOutput !== shownOutput && (
              <TextBlock label="Last output" text={stripControlCharacters(lastOutput)} />
            )}
          </li>
        );
      })}
    </ul>
  );
}
