import { type LineRange, longLineBlockBytes } from './line-breaks.ts';
import { listSecretValueEncodings, minMaskedTextCharacters } from './secret-value-encodings.ts';
import { createTextSearch, type TextSpan } from './text-search.ts';

const masked = '***';

/** Whether the start and the end of a line were cut off. Next to a cut, the line may contain only a part of a secret value. */
export type LineTruncation = { readonly atStart: boolean; readonly atEnd: boolean };

/** Returns a function that masks the lines of one stored part of an instance's output. Null if the part contains nothing to mask. */
export type SecretMask = (part: Buffer) => ((text: string, cut: LineTruncation) => string) | null;

/** Masks values in all forms of `secret-value-encodings.ts`, and a part of a value where a line was cut. */
export function createSecretMask(values: Iterable<string>): SecretMask {
  const secrets = listSecretValueEncodings(values);
  if (secrets.length === 0) return () => null;
  const { isIn, spansIn } = createTextSearch(secrets);
  return (part) => {
    const hasSome = isIn(part);
    return (text, cut) => {
      const ends = cut.atEnd ? secrets.flatMap((secret) => endOf(text, secret)) : [];
      const beginnings = cut.atStart ? secrets.flatMap((secret) => beginningOf(text, secret)) : [];
      const spans = [...(hasSome ? spansIn(text) : []), ...ends, ...beginnings];
      return spans.length === 0 ? text : maskTextSpans(spans, (from, to) => text.slice(from, to));
    };
  };
}

/** Masks secret values in a tail, which may begin in the middle of a value: also masks the rest of one at the start. */
export function maskOutputTail(tail: string, values: Iterable<string>): string {
  const secrets = listSecretValueEncodings(values);
  const spans = [
    ...createTextSearch(secrets).spansIn(tail),
    ...secrets.flatMap((secret) => beginningOf(tail, secret, minMaskedTextCharacters)),
  ];
  return spans.length === 0 ? tail : maskTextSpans(spans, (from, to) => tail.slice(from, to));
}

/**
 * Returns whether a line may be the continuation of a long line, which is split into blocks. A continuation starts at a
 * multiple of the block size, or up to 3 bytes earlier if the split would otherwise divide a UTF-8 character.
 */
export function isPossibleLineContinuation({ from }: Pick<LineRange, 'from'>): boolean {
  return from > 0 && (longLineBlockBytes - (from % longLineBlockBytes)) % longLineBlockBytes <= 3;
}

/** The span of the longest suffix of `text` that is a prefix of `secret`, or of all of `text` if `secret` contains it. */
function endOf(text: string, secret: string): TextSpan[] {
  if (secret.includes(text)) return [[0, text.length]];
  const length = overlapOf(text, secret);
  return length === 0 ? [] : [[text.length - length, text.length]];
}

/** Returns the span of the longest prefix of `text` that is a suffix of `secret`, if it has at least `least` characters. */
function beginningOf(text: string, secret: string, least = 1): TextSpan[] {
  const length = overlapOf(secret, text);
  return length < least ? [] : [[0, length]];
}

/** Length of the longest suffix of `ending` that is a prefix of `beginning` (Knuth-Morris-Pratt, which takes linear time). */
function overlapOf(ending: string, beginning: string): number {
  const most = Math.min(ending.length, beginning.length);
  /** For each prefix of `beginning`, the length of its longest proper prefix that is also its suffix. */
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

/** Replaces spans by masks. Touching and overlapping spans become one mask, which hides where each span ends. */
export function maskTextSpans(spans: readonly TextSpan[], slice: (from: number, to?: number) => string): string {
  let rest = 0;
  let result = '';
  for (const [from, to] of [...spans].sort(([a], [b]) => a - b)) {
    if (to <= rest) continue;
    if (rest === 0 || from > rest) result += `${slice(rest, from)}${masked}`;
    rest = to;
  }
  return result + slice(rest);
}
