import { randomBytes } from 'node:crypto';
import { minMaskedTextCharacters } from './secret-value-encodings.ts';

export type TextSpan = readonly [from: number, to: number];

/** Searches for many texts at once. `spansIn` returns offsets in UTF-16 code units. */
export type TextSearch = {
  readonly isIn: (part: Buffer) => boolean;
  readonly spansIn: (line: string) => readonly TextSpan[];
};

/** Maximum number of texts for which one native search per text is faster than Rabin-Karp. */
const maxSeparateTexts = 24;
const hashBits = 16;
/**
 * Limits the hash comparisons per log line to `perByte * (line length + extraBytes)`. Only maliciously chosen secret values and
 * log lines need more comparisons, which would block the service for seconds. In the rest of such a line, a secret value counts
 * as found wherever the hash of its first characters matches.
 */
const maxComparisons = { perByte: 16, extraBytes: 256 };

/** Searches for texts of at least `minMaskedTextCharacters` characters. The time does not depend on their content. */
export function createTextSearch(texts: readonly string[]): TextSearch {
  if (texts.length <= maxSeparateTexts) {
    const all = texts.map((text) => Buffer.from(text));
    return {
      isIn: (part) => all.some((bytes) => part.includes(bytes)),
      spansIn: (line) => texts.flatMap((text) => spansOf(line, text)),
    };
  }
  const find = createHashSearch(texts.map((text) => Buffer.from(text)));
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

function spansOf(line: string, text: string): TextSpan[] {
  const spans: TextSpan[] = [];
  for (let at = line.indexOf(text); at !== -1; at = line.indexOf(text, at + 1)) {
    const [from, to] = spans.at(-1) ?? [0, -1];
    if (at <= to) spans[spans.length - 1] = [from, at + text.length];
    else spans.push([at, at + text.length]);
  }
  return spans;
}

/** Searches with Rabin-Karp and two rolling hashes. Omits spans that lie within another span. */
function createHashSearch(texts: readonly Buffer[]): (line: Buffer) => readonly TextSpan[] {
  const hashes = createRollingHashes();
  /** Maps the hash of a prefix to the lengths of the texts with this prefix, and each length to the hashes of these texts. */
  const byPrefix = new Map<number, Map<number, Set<number>>>();
  const mayStart = new Uint8Array(1 << hashBits);
  for (const text of texts) {
    const sums = hashes.sums(text);
    const prefix = hashes.prefix(sums, 0);
    const lengths = byPrefix.get(prefix) ?? new Map<number, Set<number>>();
    lengths.set(text.length, (lengths.get(text.length) ?? new Set()).add(hashes.range(sums, 0, text.length)));
    byPrefix.set(prefix, lengths);
    mayStart[prefix >>> (32 - hashBits)] = 1;
  }
  const longestFirst = new Map(
    [...byPrefix].map(([prefix, lengths]) => [prefix, [...lengths].sort(([a], [b]) => b - a)]),
  );
  return (line) => {
    const spans: TextSpan[] = [];
    if (line.length < minMaskedTextCharacters) return spans;
    const sums = hashes.sums(line);
    let reached = 0;
    let comparisonsLeft = maxComparisons.perByte * (line.length + maxComparisons.extraBytes);
    for (let from = 0; from + minMaskedTextCharacters <= line.length; from++) {
      const prefix = hashes.prefix(sums, from);
      if (mayStart[prefix >>> (32 - hashBits)] === 0) continue;
      for (const [length, known] of longestFirst.get(prefix) ?? []) {
        const to = from + length;
        // The masked texts are tried from longest to shortest. If a text of this length would end within an earlier match, all
        // shorter texts would too, so try no further text at this position.
        if (to <= reached) break;
        if (to > line.length) continue;
        comparisonsLeft -= 1;
        if (comparisonsLeft >= 0 && !known.has(hashes.range(sums, from, to))) continue;
        spans.push([from, to]);
        reached = to;
      }
    }
    return spans;
  };
}

type Sums = { readonly first: Int32Array; readonly second: Int32Array };

/** Polynomial hashes modulo 2^32, whose factors and byte values are random, so that attackers cannot construct collisions. */
function createRollingHashes() {
  const random = randomBytes(2 * 4 * 257);
  const numbers = Int32Array.from({ length: 2 * 257 }, (_, index) => random.readInt32BE(index * 4));
  const [firstBytes, secondBytes] = [numbers.subarray(0, 256), numbers.subarray(256, 512)];
  const [firstFactor, secondFactor] = [(numbers[512] ?? 0) | 1, (numbers[513] ?? 0) | 1];
  let firstPowers = Int32Array.of(1);
  let secondPowers = Int32Array.of(1);

  const prefixSums = (bytes: Buffer, byteValues: Int32Array, factor: number) => {
    const sums = new Int32Array(bytes.length + 1);
    for (let at = 0; at < bytes.length; at++) {
      sums[at + 1] = Math.imul(sums[at] ?? 0, factor) + (byteValues[bytes[at] ?? 0] ?? 0);
    }
    return sums;
  };
  const powersOf = (factor: number, count: number) => {
    const powers = new Int32Array(count);
    for (let at = 0, power = 1; at < count; at++, power = Math.imul(power, factor)) powers[at] = power;
    return powers;
  };
  const hashOf = (sums: Int32Array, powers: Int32Array, from: number, to: number) =>
    ((sums[to] ?? 0) - Math.imul(sums[from] ?? 0, powers[to - from] ?? 0)) | 0;
  return {
    sums: (bytes: Buffer): Sums => {
      if (firstPowers.length <= bytes.length) {
        firstPowers = powersOf(firstFactor, bytes.length * 2 + 1);
        secondPowers = powersOf(secondFactor, bytes.length * 2 + 1);
      }
      return {
        first: prefixSums(bytes, firstBytes, firstFactor),
        second: prefixSums(bytes, secondBytes, secondFactor),
      };
    },
    /** Returns a 32-bit hash of the `minMaskedTextCharacters` bytes from the offset `from`. */
    prefix: ({ first }: Sums, from: number) => hashOf(first, firstPowers, from, from + minMaskedTextCharacters),
    /** Returns a 52-bit hash of the bytes from the offset `from` to `to`: 32 bits of one polynomial hash and 20 of another. */
    range: ({ first, second }: Sums, from: number, to: number) =>
      (hashOf(first, firstPowers, from, to) >>> 0) * 2 ** 20 + (hashOf(second, secondPowers, from, to) >>> 12),
  };
}
