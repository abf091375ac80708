import { hkdfSync } from 'node:crypto';
import { formsOf, leastLength } from './value-forms.ts';

/**
 * What values are known by in a log when nobody has them any more: of each form its length, and hashes of its beginning and
 * of all of it. The hashes are for searching, and no one-way functions: who has them and their key can work values out, so
 * they are kept sealed only.
 */
export type Traces = {
  /** Of the longest form. */
  readonly longest: number;
  /** What of a line is of forms, without those that lie within another. Offsets in its bytes. */
  readonly find: (line: Buffer) => readonly (readonly [from: number, to: number])[];
};

const recordBytes = 16;
const hashBits = 16;
/**
 * How many hashes may be compared for each byte of a line, and of as many bytes more. Only values and lines that were made for
 * it need as many, and would hold the service up for seconds: of those more is taken out than would have to be.
 */
const comparisons = { hashes: 16, more: 256 };

/** Traces of values, 16 bytes for each form. `key` is of these values alone. */
export function writeTraces(values: Iterable<string>, key: Buffer): Buffer {
  return tracesOfForms(formsOf(values), key);
}

export function tracesOfForms(forms: readonly string[], key: Buffer): Buffer {
  const hashes = createHashes(key);
  const written = Buffer.alloc(forms.length * recordBytes);
  forms.forEach((form, index) => {
    const bytes = Buffer.from(form);
    const { one, other } = hashes.of(bytes);
    const at = index * recordBytes;
    written.writeUInt32BE(bytes.length, at);
    written.writeInt32BE(hashes.part(one, 0, leastLength), at + 4);
    written.writeInt32BE(hashes.part(one, 0, bytes.length), at + 8);
    written.writeInt32BE(hashes.partOfOther(other, 0, bytes.length), at + 12);
  });
  return written;
}

/** Reads what `writeTraces` wrote: keyed hashes by which values are found again in a line, without the values themselves. */
export function readTraces(written: Buffer, key: Buffer): Traces {
  const hashes = createHashes(key);
  /** By the hash of their beginning: their lengths, and of each length the hashes of the whole. */
  const forms = new Map<number, Map<number, Set<number>>>();
  const mayBegin = new Uint8Array(1 << hashBits);
  for (let at = 0; at + recordBytes <= written.length; at += recordBytes) {
    const length = written.readUInt32BE(at);
    const beginning = written.readInt32BE(at + 4);
    const lengths = forms.get(beginning) ?? new Map<number, Set<number>>();
    const whole = lengths.get(length) ?? new Set<number>();
    whole.add(joined(written.readInt32BE(at + 8), written.readInt32BE(at + 12)));
    lengths.set(length, whole);
    forms.set(beginning, lengths);
    mayBegin[beginning >>> (32 - hashBits)] = 1;
  }
  const longestFirst = new Map([...forms].map(([beginning, lengths]) => [beginning, sorted(lengths)]));
  const longest = [...longestFirst.values()].reduce((most, [first]) => Math.max(most, first?.[0] ?? 0), 0);
  const find = (line: Buffer): [number, number][] => {
    const found: [number, number][] = [];
    if (forms.size === 0 || line.length < leastLength) return found;
    const { one, other } = hashes.of(line);
    let reached = 0;
    let left = comparisons.hashes * (line.length + comparisons.more);
    for (let from = 0; from + leastLength <= line.length; from++) {
      const beginning = hashes.part(one, from, from + leastLength);
      if (mayBegin[beginning >>> (32 - hashBits)] === 0) continue;
      for (const [length, whole] of longestFirst.get(beginning) ?? []) {
        const to = from + length;
        // This one, and all that are shorter, would lie within what was found.
        if (to <= reached) break;
        if (to > line.length) continue;
        left -= 1;
        if (left >= 0 && !whole.has(joined(hashes.part(one, from, to), hashes.partOfOther(other, from, to)))) continue;
        found.push([from, to]);
        reached = to;
      }
    }
    return found;
  };
  return { longest, find };
}

function sorted<Value>(byLength: ReadonlyMap<number, Value>): readonly (readonly [number, Value])[] {
  return [...byLength].sort(([a], [b]) => b - a);
}

/** 52 bits of two hashes, as one number. */
function joined(one: number, other: number): number {
  return (one >>> 0) * 2 ** 20 + (other >>> 12);
}

/**
 * Two rolling hashes: of all beginnings of a text, from which that of any part follows at once. Factors and what each byte
 * stands for come from the key.
 */
function createHashes(key: Buffer) {
  const drawn = Buffer.from(hkdfSync('sha256', key, '', 'bothost log traces', 2 * 4 * 257));
  const numbers = Int32Array.from({ length: 2 * 257 }, (_, index) => drawn.readInt32BE(index * 4));
  const [tableOne, tableOther] = [numbers.subarray(0, 256), numbers.subarray(256, 512)];
  const [factorOne, factorOther] = [(numbers[512] ?? 0) | 1, (numbers[513] ?? 0) | 1];
  let powersOne = Int32Array.of(1);
  let powersOther = Int32Array.of(1);

  const beginnings = (bytes: Buffer, table: Int32Array, factor: number) => {
    const sums = new Int32Array(bytes.length + 1);
    for (let at = 0; at < bytes.length; at++) {
      sums[at + 1] = Math.imul(sums[at] ?? 0, factor) + (table[bytes[at] ?? 0] ?? 0);
    }
    return sums;
  };
  const powers = (factor: number, count: number) => {
    const all = new Int32Array(count);
    for (let at = 0, power = 1; at < count; at++, power = Math.imul(power, factor)) all[at] = power;
    return all;
  };
  const part = (sums: Int32Array, power: Int32Array, from: number, to: number) =>
    ((sums[to] ?? 0) - Math.imul(sums[from] ?? 0, power[to - from] ?? 0)) | 0;
  return {
    of: (bytes: Buffer) => {
      if (powersOne.length <= bytes.length) {
        powersOne = powers(factorOne, bytes.length * 2 + 1);
        powersOther = powers(factorOther, bytes.length * 2 + 1);
      }
      return { one: beginnings(bytes, tableOne, factorOne), other: beginnings(bytes, tableOther, factorOther) };
    },
    part: (sums: Int32Array, from: number, to: number) => part(sums, powersOne, from, to),
    partOfOther: (sums: Int32Array, from: number, to: number) => part(sums, powersOther, from, to),
  };
}
