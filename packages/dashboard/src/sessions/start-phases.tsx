import type { StartPhaseDurations as Phases } from '@bothost/contract';

const phases = [
  ['claim', 'Claim', 'From the request to the claim of an instance'],
  ['boot', 'Boot', 'From the claim to the ready instance'],
  ['dispatch', 'Dispatch', 'From the ready instance to the accepted session'],
] as const;

/**
 * Shows the phases of a session's start as a waterfall chart: claim of an instance, boot of the bot, dispatch of the session.
 */
export function StartPhases({ durations }: { readonly durations: Phases }) {
  const total = durations.claim + durations.boot + durations.dispatch;
  let startedAt = 0;
  return (
    <ol className="flex flex-col gap-3 px-5 py-5 sm:px-6">
      {phases.map(([name, title, meaning]) => {
        const duration = durations[name];
        const left = total === 0 ? 0 : (startedAt / total) * 100;
        const width = total === 0 ? 0 : (duration / total) * 100;
        startedAt += duration;
        return (
          <li
            key={name}
            className="grid grid-cols-[5rem_minmax(0,1fr)_4.5rem] items-center gap-x-4 sm:grid-cols-[20rem_minmax(0,1fr)_4.5rem]"
          >
            <span className="flex flex-col">
              <span className="font-medium text-sm">{title}</span>
              <span className="text-quiet text-xs max-sm:sr-only">{meaning}</span>
            </span>
            <span aria-hidden="true" className="relative h-4 rounded bg-line/50">
              <span
                className="absolute inset-y-0 min-w-0.5 rounded bg-accent"
                style={{ left: `${Math.min(left, 99.5)}%`, width: `${width}%` }}
              />
            </span>
            <span className="text-right text-sm tabular-nums">{Math.round(duration)} ms</span>
          </li>
        );
      })}
      <li className="flex justify-between gap-4 border-line border-t pt-3 text-sm">
        <span className="font-medium">From the request to the accepted session</span>
        <span className="shrink-0 tabular-nums">{Math.round(total)} ms</span>
      </li>
    </ol>
  );
}
