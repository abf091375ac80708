import { useEffect, useRef } from 'react';
import { classNames } from '../components/class-names.ts';
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
      className="flex max-h-112 min-h-40 flex-col overflow-y-auto p-5 sm:px-6"
    >
      {lines.length === 0 && interim === '' && (
        <p className="m-auto text-quiet text-sm">What you and the bot say appears here.</p>
      )}
      <ol className="flex flex-col gap-3">
        {lines.map(({ id, at, who, text, isWordless }) => (
          <li
            key={id}
            className={classNames('flex max-w-[85%] flex-col', who === 'you' ? 'items-end self-end' : 'items-start')}
          >
            <span className="text-quiet text-xs">
              {who === 'you' ? 'You' : agent} · <TimeOfDay at={new Date(at)} />
            </span>
            <span
              className={classNames(
                'mt-1 rounded-2xl border border-line px-3.5 py-2 wrap-anywhere',
                isWordless ? 'border-dashed text-quiet italic' : who === 'you' ? 'bg-line/40' : 'bg-background',
              )}
            >
              {text}
            </span>
          </li>
        ))}
        {interim !== '' && <li className="max-w-[85%] self-end text-quiet italic wrap-anywhere">{interim} …</li>}
      </ol>
    </div>
  );
}
