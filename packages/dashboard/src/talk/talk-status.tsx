import type { ReactNode } from 'react';
import { Badge } from '../components/badge.tsx';
import { formatLatency } from '../components/format.ts';
import { ElapsedTime } from './elapsed-time.tsx';
import { computeMedian } from './median.ts';
import type { ConversationPhase, TalkState } from './talk-state.ts';

const phases = {
  idle: { text: 'Your browser will ask to use the microphone. If you decline, you can type.' },
  initializing: { text: 'Looking for a microphone…', badge: ['accent', 'Connecting'] },
  authenticating: { text: 'Starting a session…', badge: ['accent', 'Connecting'] },
  connecting: { text: 'Connecting to the bot…', badge: ['accent', 'Connecting'] },
  ready: { text: 'Ready. Say something, or type.', badge: ['good', 'Connected'] },
  ended: { text: 'The session has ended.', badge: ['neutral', 'Ended'] },
  failed: { text: 'The conversation failed.', badge: ['danger', 'Failed'] },
} as const satisfies Record<
  ConversationPhase,
  { text: string; badge?: readonly ['accent' | 'good' | 'neutral' | 'danger', string] }
>;

export function isLive(phase: ConversationPhase): boolean {
  return phase !== 'idle' && phase !== 'ended' && phase !== 'failed';
}

/** The state of a conversation, with its duration and response time. */
export function TalkStatus({ state }: { readonly state: TalkState }) {
  const phase = phases[state.phase];
  return (
    <div className="flex items-center gap-4">
      <img
        src="/assets/parrot.svg"
        alt=""
        width="48"
        height="48"
        className={`rounded-full transition-shadow max-sm:hidden ${state.speaking.bot ? 'shadow-[0_0_0_4px_var(--ui-good)]' : ''}`}
      />
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <p role="status" className="font-medium">
          {phase.text}
        </p>
        <ul className="flex flex-wrap gap-x-4 text-quiet text-sm">
          {listFacts(state).map((fact, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the facts have fixed positions
            <li key={index}>{fact}</li>
          ))}
        </ul>
      </div>
      {'badge' in phase && <Badge tone={phase.badge[0]}>{phase.badge[1]}</Badge>}
    </div>
  );
}

function listFacts({ phase, startedAt, readyAt, endedAt, latenciesMs }: TalkState): readonly ReactNode[] {
  const facts: ReactNode[] = [];
  if (readyAt !== undefined) {
    facts.push(
      <>
        Time <ElapsedTime from={readyAt} to={endedAt} />
      </>,
    );
    if (startedAt !== undefined) facts.push(`Start ${formatLatency(readyAt - startedAt)}`);
  } else if (startedAt !== undefined && isLive(phase)) {
    facts.push(
      <>
        Starting <ElapsedTime from={startedAt} to={undefined} />
      </>,
    );
  }
  if (latenciesMs.length > 0) facts.push(`Reply after ${formatLatency(computeMedian(latenciesMs))}, median`);
  return facts;
}
