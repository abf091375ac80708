import type { StartPhaseDurations } from '@bothost/contract';
import { formatLatency } from '../components/format.ts';

type Bar = { readonly title: string; readonly meaning: string; readonly fromMs: number; readonly toMs: number };

/** Shows the phases and moments of a session's start, from the request on, as a waterfall chart. */
export function StartPhases({ durations }: { readonly durations: StartPhaseDurations }) {
  const bars = createBars(durations);
  const totalMs = Math.max(1, ...bars.map(({ toMs }) => toMs));
  const { claim, boot, dispatch, firstFrame } = durations;
  return (
    <ol className="flex flex-col gap-3 px-5 py-5 sm:px-6">
      {bars.map(({ title, meaning, fromMs, toMs }) => (
        <li
          key={title}
          className="grid grid-cols-[5rem_minmax(0,1fr)_4.5rem] items-center gap-x-4 sm:grid-cols-[20rem_minmax(0,1fr)_4.5rem]"
        >
          <span className="flex flex-col">
            <span className="font-medium text-sm">{title}</span>
            <span className="text-quiet text-xs max-sm:sr-only">{meaning}</span>
          </span>
          <span aria-hidden="true" className="relative h-4 rounded bg-line/50">
            <span
              className="absolute inset-y-0 min-w-0.5 rounded bg-accent"
              style={{
                left: `${Math.min((fromMs / totalMs) * 100, 99.5)}%`,
                width: `${((toMs - fromMs) / totalMs) * 100}%`,
              }}
            />
          </span>
          <span className="text-right text-sm tabular-nums">{formatLatency(toMs - fromMs)}</span>
        </li>
      ))}
      <Total title="From the request to the accepted session" milliseconds={claim + boot + dispatch} />
      {firstFrame !== null && <Total title="From the request until the caller could speak" milliseconds={firstFrame} />}
    </ol>
  );
}

function Total({ title, milliseconds }: { readonly title: string; readonly milliseconds: number }) {
  return (
    <li className="flex justify-between gap-4 border-line border-t pt-3 text-sm">
      <span className="font-medium">{title}</span>
      <span className="shrink-0 tabular-nums">{formatLatency(milliseconds)}</span>
    </li>
  );
}

function createBars(durations: StartPhaseDurations): readonly Bar[] {
  const { claim, boot, dispatch } = durations;
  const moments = [
    ['Bot called', 'From the request to the call of bot()', durations.botCalled],
    ['Connected', 'From the request to the connected client', durations.transportConnected],
    ['First frame', 'From the request to the first frame for the client', durations.firstFrame],
  ] as const;
  return [
    { title: 'Claim', meaning: 'From the request to the claim of an instance', fromMs: 0, toMs: claim },
    { title: 'Boot', meaning: 'From the claim to the ready instance', fromMs: claim, toMs: claim + boot },
    {
      title: 'Dispatch',
      meaning: 'From the ready instance to the accepted session',
      fromMs: claim + boot,
      toMs: claim + boot + dispatch,
    },
    ...moments.flatMap(([title, meaning, toMs]) => (toMs === null ? [] : [{ title, meaning, fromMs: 0, toMs }])),
  ];
}
