import { blockBytes, type LineRange } from './line-breaks.ts';

/** Shorter ones would take ordinary words out. */
const leastLength = 6;
const masked = '***';

/** Takes values out of the lines of a part of an output. Null: none of them is in it. */
export type Mask = (part: Buffer) => ((text: string, range: LineRange) => string) | null;

/**
 * What nobody is to read in a log: these values, exactly as they are, each of their lines alike. Where a line is handed out
 * in blocks, also the piece of one that ends or begins there.
 */
export function createMask(values: Iterable<string>): Mask {
  const secrets = secretsOf(values);
  const known = secrets.map((text) => ({ text, bytes: Buffer.from(text) }));
  return (part) => {
    const within = known.filter(({ bytes }) => part.includes(bytes)).map(({ text }) => text);
    if (within.length === 0 && part.length < blockBytes) return null;
    return (text, range) => {
      const spans = within.flatMap((secret) => spansOf(text, secret));
      if (range.end === 'block') spans.push(...secrets.flatMap((secret) => endOf(text, secret)));
      if (followsBlock(range)) spans.push(...secrets.flatMap((secret) => beginningOf(text, secret)));
      return spans.length === 0 ? text : without(text, spans);
    };
  };
}

/** The same for the last words of an output, which may begin within a value. */
export function maskTail(tail: string, values: Iterable<string>): string {
  const spans = secretsOf(values).flatMap((secret) => [
    ...spansOf(tail, secret),
    ...beginningOf(tail, secret, leastLength),
  ]);
  return spans.length === 0 ? tail : without(tail, spans);
}

/** Lines of values that are long enough. */
function secretsOf(values: Iterable<string>): readonly string[] {
  const lines = [...values].flatMap((value) => value.split('\n').map((line) => line.replace(/\r$/, '')));
  return [...new Set(lines)].filter((line) => line.length >= leastLength);
}

type Span = readonly [from: number, to: number];

function spansOf(text: string, secret: string): Span[] {
  const spans: Span[] = [];
  for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + 1))
    spans.push([at, at + secret.length]);
  return spans;
}

/** A block ends at a multiple of its size, or a character's bytes before. */
function followsBlock({ from }: LineRange): boolean {
  return from > 0 && (blockBytes - (from % blockBytes)) % blockBytes <= 3;
}

/** The piece of a secret with which a text ends, or the whole text where it lies within one. */
function endOf(text: string, secret: string): Span[] {
  if (secret.includes(text)) return [[0, text.length]];
  for (let length = Math.min(secret.length, text.length); length > 0; length--) {
    if (text.endsWith(secret.slice(0, length))) return [[text.length - length, text.length]];
  }
  return [];
}

/** The piece of a secret with which a text begins. */
function beginningOf(text: string, secret: string, least = 1): Span[] {
  for (let length = Math.min(secret.length, text.length); length >= least; length--) {
    if (text.startsWith(secret.slice(secret.length - length))) return [[0, length]];
  }
  return [];
}

/** All spans as one mask each, those that touch or overlap as one: what is left says nothing of where one of them ended. */
function without(text: string, spans: readonly Span[]): string {
  let rest = 0;
  let result = '';
  for (const [from, to] of [...spans].sort(([a], [b]) => a - b)) {
    if (to <= rest) continue;
    if (rest === 0 || from > rest) result += `${text.slice(rest, from)}${masked}`;
    rest = to;
  }
  return result + text.slice(rest);
}
