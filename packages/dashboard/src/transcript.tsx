import { useEffect, useRef } from 'react';
import type { Line } from './talk-state.ts';

interface TranscriptProps {
  readonly agent: string;
  readonly lines: readonly Line[];
}

/** Shows the lines of a conversation and scrolls to the newest one. */
export function Transcript({ agent, lines }: TranscriptProps) {
  const list = useRef<HTMLOListElement>(null);
  const newest = lines.at(-1)?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new line has to scroll the list
  useEffect(() => {
    list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [newest]);
  if (lines.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling list must be reachable by keyboard
    <ol className="transcript" ref={list} role="log" aria-label="Transcript" tabIndex={0}>
      {lines.map((line) => (
        <li key={line.id} data-who={line.who} data-wordless={line.isWordless ?? false}>
          <span className="who">{line.who === 'you' ? 'You' : agent}</span>
          <span className="line-text">{line.text}</span>
        </li>
      ))}
    </ol>
  );
}
