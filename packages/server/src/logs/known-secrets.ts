import { tailBytes } from '@bothost/runtime';
import { type Cut, createMask, type Mask, maskTail, without } from './mask.ts';
import { readTraces, type Traces } from './traces.ts';

/**
 * What is known of the values that bots were given: themselves, or what they are known by in a log, or that there were some.
 */
export type KnownSecrets =
  | { readonly kind: 'values'; readonly values: readonly string[] }
  | { readonly kind: 'traces'; readonly written: Buffer; readonly key: Buffer }
  | { readonly kind: 'unrecognisable' };

const withheld =
  '(not shown: this bot was started with secrets that can no longer be looked up, and may have written them here)';
/** In bytes. Last words that are shorter begin with a line: of others up to three bytes of a character were left out. */
const cutTailBytes = tailBytes - 3;

/** Takes known secrets out of lines of output. If secrets existed but can no longer be recognised, every line is withheld. */
export function maskFor(known: KnownSecrets): Mask {
  if (known.kind === 'values') return createMask(known.values);
  if (known.kind === 'unrecognisable') return () => () => withheld;
  const traces = readTraces(known.written, known.key);
  return (part) => {
    const hasSome = traces.find(part).length > 0;
    return (text, cut) => (hasSome || cut.begins || cut.ends ? takeOut(text, traces, cut) : text);
  };
}

/** The last output of a bot without known secrets; withheld as a whole if they can no longer be recognised. */
export function tailFor(known: KnownSecrets, tail: string): string {
  if (known.kind === 'values') return maskTail(tail, known.values);
  if (known.kind === 'unrecognisable') return tail === '' ? '' : withheld;
  const traces = readTraces(known.written, known.key);
  const isCut = Buffer.byteLength(tail) >= cutTailBytes;
  const lines = tail
    .split('\n')
    .map((line, index) => takeOut(line, traces, { begins: isCut && index === 0, ends: false }));
  return lines.join('\n');
}

/** Of a form that is in two parts neither is known, so as much goes where a line was cut as one may have of it. */
function takeOut(text: string, traces: Traces, cut: Cut): string {
  const line = Buffer.from(text);
  const spans = [...traces.find(line)];
  const reach = Math.min(Math.max(traces.longest - 1, 0), line.length);
  if (cut.begins && reach > 0) spans.push([0, wholeAt(line, reach, 1)]);
  if (cut.ends && reach > 0) spans.push([wholeAt(line, line.length - reach, -1), line.length]);
  return spans.length === 0 ? text : without(spans, (from, to) => line.toString('utf8', from, to ?? line.length));
}

/** The next place, up or down, where a character begins. */
function wholeAt(line: Buffer, place: number, step: 1 | -1): number {
  let at = place;
  while (at > 0 && at < line.length && ((line[at] ?? 0) & 0xc0) === 0x80) at += step;
  return at;
}
