import { useLayoutEffect, useRef } from 'react';
import { stripControlCharacters } from '../logs/log-text.ts';

/** Shows the log of a build. Scrolls to new lines, unless a person has scrolled up. */
export function BuildLog({ lines }: { readonly lines: readonly string[] }) {
  const element = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new lines move the end
  useLayoutEffect(() => {
    if (isAtEnd.current) element.current?.scrollTo(0, element.current.scrollHeight);
  }, [lines]);
  return (
    <pre
      ref={element}
      role="log"
      aria-label="Build log"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards scroll it
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollTop + clientHeight > scrollHeight - 8;
      }}
      className="max-h-80 overflow-auto rounded-lg border border-line bg-background p-3 font-mono text-[0.8125rem] whitespace-pre-wrap wrap-anywhere"
    >
      {lines.map(stripControlCharacters).join('\n')}
    </pre>
  );
}
