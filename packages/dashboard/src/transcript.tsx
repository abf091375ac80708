import { useEffect, useRef } from 'react';
import type { Line } from './talk-state.ts';

interface TranscriptProps {
  readonly agent: string;
  readonly lines: readonly Line[];
}

/** What was said, the newest line in sight. */
export function Transcript({ agent, lines }: TranscriptProps) {
  const list = useRef<HTMLOListElement>(null);
  const newest = lines.at(-1)?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new line is what makes it scroll
  useEffect(() => {
    list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [newest]);
  if (lines.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls must be reachable by keyboard
    <ol className="transcript" ref={list} role="log" aria-label="What was said" tabIndex={0}>
      {lines.map((line) => (
        <li key={line.id} data-who={line.who} data-wordless={line.wordless ?? false}>
          <span className="who">{line.who === 'you' ? 'You' : agent}</span>
          <span className="said">{line.text}</span>
        </li>
      ))}
    </ol>
  );
}
