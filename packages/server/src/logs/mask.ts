import { blockBytes, type LineRange } from './line-breaks.ts';
import { createSearch, type Span } from './search.ts';
import { formsOf, leastLength } from './value-forms.ts';

const masked = '***';

/** Whether a line begins, or ends, where it was cut: a piece of a value may be there. */
export type Cut = { readonly begins: boolean; readonly ends: boolean };

/** Takes values out of the lines of a part of an output. Null: nothing is to be taken out. */
export type Mask = (part: Buffer) => ((text: string, cut: Cut) => string) | null;

/**
 * What nobody is to read in a log: these values, in each form that a line may have of them. Where a line is cut, also the
 * piece of one that ends or begins there.
 */
export function createMask(values: Iterable<string>): Mask {
  const secrets = formsOf(values);
  if (secrets.length === 0) return () => null;
  const { isIn, spansIn } = createSearch(secrets);
  return (part) => {
    const hasSome = isIn(part);
    return (text, cut) => {
      const ends = cut.ends ? secrets.flatMap((secret) => endOf(text, secret)) : [];
      const beginnings = cut.begins ? secrets.flatMap((secret) => beginningOf(text, secret)) : [];
      const spans = [...(hasSome ? spansIn(text) : []), ...ends, ...beginnings];
      return spans.length === 0 ? text : without(spans, (from, to) => text.slice(from, to));
    };
  };
}

/** The same for the last words of an output, which may begin within a value. */
export function maskTail(tail: string, values: Iterable<string>): string {
  const secrets = formsOf(values);
  const spans = [
    ...createSearch(secrets).spansIn(tail),
    ...secrets.flatMap((secret) => beginningOf(tail, secret, leastLength)),
  ];
  return spans.length === 0 ? tail : without(spans, (from, to) => tail.slice(from, to));
}

/** A block ends at a multiple of its size, or a character's bytes before. */
export function followsBlock({ from }: Pick<LineRange, 'from'>): boolean {
  return from > 0 && (blockBytes - (from % blockBytes)) % blockBytes <= 3;
}

/** The piece of a secret with which a text ends, or the whole text where it lies within one. */
function endOf(text: string, secret: string): Span[] {
  if (secret.includes(text)) return [[0, text.length]];
  const length = overlapOf(text, secret);
  return length === 0 ? [] : [[text.length - length, text.length]];
}

/** The piece of a secret with which a text begins. */
function beginningOf(text: string, secret: string, least = 1): Span[] {
  const length = overlapOf(secret, text);
  return length < least ? [] : [[0, length]];
}

/**
 * How long the longest end of a text is with which another one begins. In linear time (Knuth, Morris, Pratt), since both are
 * whatever their owner likes: tried length by length, texts that repeat themselves held the service up for seconds.
 */
function overlapOf(ending: string, beginning: string): number {
  const most = Math.min(ending.length, beginning.length);
  /** For each beginning of `beginning`: how much of it is its end, too. */
  const borders = new Int32Array(most);
  const matchNext = (before: number, char: number): number => {
    let matched = before;
    while (matched > 0 && beginning.charCodeAt(matched) !== char) matched = borders[matched - 1] ?? 0;
    return beginning.charCodeAt(matched) === char ? matched + 1 : 0;
  };
  for (let at = 1; at < most; at++) borders[at] = matchNext(borders[at - 1] ?? 0, beginning.charCodeAt(at));
  let matched = 0;
  for (let at = ending.length - most; at < ending.length; at++) matched = matchNext(matched, ending.charCodeAt(at));
  return matched;
}

/** All spans as one mask each, those that touch or overlap as one: what is left says nothing of where one of them ended. */
export function without(spans: readonly Span[], slice: (from: number, to?: number) => string): string {
  let rest = 0;
  let result = '';
  for (const [from, to] of [...spans].sort(([a], [b]) => a - b)) {
    if (to <= rest) continue;
    if (rest === 0 || from > rest) result += `${slice(rest, from)}${masked}`;
    rest = to;
  }
  return result + slice(rest);
}
