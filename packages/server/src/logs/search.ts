import { randomBytes } from 'node:crypto';
import { readTraces, tracesOfForms } from './traces.ts';

export type Span = readonly [from: number, to: number];

/** Where some texts are: whether one is in a part of an output, and what of a line is of them. */
export type Search = {
  readonly isIn: (part: Buffer) => boolean;
  readonly spansIn: (line: string) => readonly Span[];
};

/** So few texts are quicker looked for one by one. */
const few = 24;

/**
 * Looks for many texts, of at least the length that a form has, in one pass, however many there are and however alike they
 * begin: thousands of lines of a value that is JSON begin with the same spaces, as lines of logs do.
 */
export function createSearch(texts: readonly string[]): Search {
  if (texts.length <= few) {
    const all = texts.map((text) => Buffer.from(text));
    return {
      isIn: (part) => all.some((bytes) => part.includes(bytes)),
      spansIn: (line) => texts.flatMap((text) => spansOf(line, text)),
    };
  }
  const key = randomBytes(32);
  const { find } = readTraces(tracesOfForms(texts, key), key);
  return {
    isIn: (part) => find(part).length > 0,
    spansIn: (line) => {
      const bytes = Buffer.from(line);
      const spans = find(bytes);
      if (bytes.length === line.length) return spans;
      return spans.map(([from, to]) => [bytes.toString('utf8', 0, from).length, bytes.toString('utf8', 0, to).length]);
    },
  };
}

function spansOf(line: string, text: string): Span[] {
  const spans: Span[] = [];
  for (let at = line.indexOf(text); at !== -1; at = line.indexOf(text, at + 1)) {
    const [from, to] = spans.at(-1) ?? [0, -1];
    if (at <= to) spans[spans.length - 1] = [from, at + text.length];
    else spans.push([at, at + text.length]);
  }
  return spans;
}
