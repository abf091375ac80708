import { splitAtMatches } from './split-at-matches.ts';

type HighlightedTextProps = { readonly text: string; readonly highlighted: string | undefined };

/** Shows a text in which the places are marked that contain another text, ignoring case. */
export function HighlightedText({ text, highlighted = '' }: HighlightedTextProps) {
  return splitAtMatches(text, highlighted).map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have fixed positions
      <mark key={index} className="rounded-sm bg-warning/30 text-inherit">
        {part}
      </mark>
    ),
  );
}
