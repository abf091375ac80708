import { Wrench } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { twMerge } from 'tailwind-merge';
import { formatLatency } from '../components/format.ts';
import { TimeOfDay } from '../components/time.tsx';
import type { TranscriptLine } from './talk-state.ts';

type TranscriptProps = {
  readonly agent: string;
  readonly lines: readonly TranscriptLine[];
  /** The interim transcript of the person's current speech. */
  readonly interim: string;
};

/** Shows the lines of a conversation and scrolls to the newest one. */
export function Transcript({ agent, lines, interim }: TranscriptProps) {
  const list = useRef<HTMLDivElement>(null);
  const newest = lines.at(-1);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new text has to scroll the list
  useEffect(() => {
    list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [newest, interim]);
  return (
    <div
      ref={list}
      role="log"
      aria-label="Transcript"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling list must be reachable by keyboard
      tabIndex={0}
      className="flex h-[clamp(12rem,calc(100dvh-36rem),48rem)] flex-col overflow-y-auto p-5 -outline-offset-2 sm:px-6"
    >
      {lines.length === 0 && interim === '' && (
        <p className="m-auto text-quiet text-sm">What you and the bot say appears here.</p>
      )}
      <ol className="flex flex-col gap-3">
        {lines.map((line) => (
          <Line key={line.id} agent={agent} line={line} />
        ))}
        {interim !== '' && <li className="max-w-[85%] self-end text-quiet italic wrap-anywhere">{interim} …</li>}
      </ol>
    </div>
  );
}

function Line({ agent, line }: { readonly agent: string; readonly line: TranscriptLine }) {
  if (line.who === 'tool') {
    const { text, state, durationMs } = line;
    return (
      <li className="flex max-w-[85%] items-center gap-2 text-quiet text-sm">
        <Wrench aria-hidden="true" className="size-4 shrink-0" />
        <span className="min-w-0 wrap-anywhere">
          Tool <code className="font-mono text-[0.8125rem]">{text}</code> {toolStates[state]}
          {durationMs !== undefined && ` after ${formatLatency(durationMs)}`}
        </span>
      </li>
    );
  }
  const { at, who, text, isWordless, latencyMs } = line;
  return (
    <li className={twMerge('flex max-w-[85%] flex-col', who === 'you' ? 'items-end self-end' : 'items-start')}>
      <span className="text-quiet text-xs tabular-nums">
        {who === 'you' ? 'You' : agent} · <TimeOfDay at={new Date(at)} />
        {latencyMs !== undefined && ` · after ${formatLatency(latencyMs)}`}
      </span>
      <span
        className={twMerge(
          'mt-1 rounded-2xl border border-line px-3.5 py-2 wrap-anywhere',
          isWordless ? 'border-dashed text-quiet italic' : who === 'you' ? 'bg-line/40' : 'bg-background',
        )}
      >
        {text}
      </span>
    </li>
  );
}

const toolStates = { running: 'runs', completed: 'completed', canceled: 'canceled' } as const;
