import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findLines } from './find-lines.ts';
import { type KnownSecrets, maskFor, tailFor } from './known-secrets.ts';
import { blockBytes, splitLines } from './line-breaks.ts';
import { writeTraces } from './traces.ts';

const key = randomBytes(32);
const asValues = (values: readonly string[]): KnownSecrets => ({ kind: 'values', values });
const asTraces = (values: readonly string[]): KnownSecrets => ({
  kind: 'traces',
  written: writeTraces(values, key),
  key,
});

/** The lines that a reader gets of what was written. */
function shown(written: string, known: KnownSecrets) {
  const bytes = Buffer.from(written);
  const marks = [{ end: bytes.length, at: 1, unattended: false }];
  const file = { path: '', base: 0, dropped: [], marks, endedAt: null };
  const part = { kind: 'lines', bytes, from: 0, lines: splitLines(bytes, 0) } as const;
  const found = findLines(file, part, { text: undefined, level: undefined }, maskFor(known));
  return found.flatMap(({ line }) => (line === null ? [] : [line]));
}
const logs = (written: string, known: KnownSecrets) => shown(written, known).map(({ log }) => log);

describe('values of which nothing is known but their traces', () => {
  it('are taken out of lines and last words as if they were known', () => {
    const unit = fc.constantFrom('a', 'b', 'é', '😀', '\n', ' ', '"');
    const values = fc.array(fc.string({ unit, minLength: 1, maxLength: 24 }), { maxLength: 4 });
    const noise = fc.array(fc.string({ unit, maxLength: 14 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(values, noise, (secrets, rest) => {
        const written = rest.map((text, index) => text + (secrets[index] ?? '')).join('');
        expect(logs(`${written}\n`, asTraces(secrets))).toEqual(logs(`${written}\n`, asValues(secrets)));
        const encoded = `${encodeURIComponent(written)} ${Buffer.from(written).toString('base64')}`;
        expect(logs(`${encoded}\n`, asTraces(secrets))).toEqual(logs(`${encoded}\n`, asValues(secrets)));
        // A whole one: of the end of a value with which last words begin nothing is known.
        const tail = `boot\n${written}`;
        expect(tailFor(asTraces(secrets), tail)).toBe(tailFor(asValues(secrets), tail));
      }),
      { numRuns: 2_000 },
    );
  });

  it('are not in the pieces of a long line either, of which no more is left out than needs be', () => {
    const secret = Array.from({ length: 300 }, (_, index) => index.toString(36)).join('é');
    const longest = Math.ceil((Buffer.byteLength(secret) * 3) / 1);
    for (let before = blockBytes - secret.length * 2; before < blockBytes + 20; before += 97) {
      const pieces = logs(`${'.'.repeat(before)}${secret}${'.'.repeat(2 * blockBytes)}\n`, asTraces([secret]));
      const left = pieces.join('').replaceAll('***', '');
      expect(left).toMatch(/^\.*$/);
      expect(left.length).toBeGreaterThan(blockBytes * 2 - 4 * longest);
    }
  });

  it('are not at the beginning of last words that were cut', () => {
    const secret = Array.from({ length: 600 }, (_, index) => index.toString(36)).join('-');
    const words = `${secret.slice(100)} and on${'.'.repeat(4_096)}`.slice(0, 4_096);
    expect(tailFor(asTraces([secret]), words)).toMatch(/^\*\*\*\.*$/);
    expect(tailFor(asTraces([secret]), 'and on\nend')).toBe('and on\nend');
  });

  it('stay hidden in what is kept of them', () => {
    const value = 'sk_canary_0123456789';
    const written = writeTraces([value], key);
    for (let from = 0; from + 4 <= value.length; from++)
      expect(written.includes(value.slice(from, from + 4))).toBe(false);
    expect(logs(`it is ${value}\n`, { kind: 'traces', written, key: randomBytes(32) })).toEqual([`it is ${value}`]);
  });

  it('do not take longer for values and lines that are all alike', () => {
    const secrets = Array.from({ length: 7 }, (_, index) => `${'a'.repeat(65_000)}b${index}`);
    const pieces = logs(`${'a'.repeat(32 * blockBytes)}\n`, asTraces(secrets));
    expect(pieces.join('').replaceAll('***', '')).toBe('');
  });

  it.each([
    ['values', asValues],
    ['traces', asTraces],
  ])('are found by %s as one span where thousands of them lie over each other', (_, known) => {
    const secrets = Array.from({ length: 1_000 }, (_, index) => 'a'.repeat(6 + index));
    const pieces = logs(`${'a'.repeat(16 * blockBytes)}\n`, known(secrets));
    expect(pieces.slice(0, -1)).toEqual(Array.from({ length: 16 }, () => '***'));
  });
});

describe('values and lines that were made to be slow to compare', () => {
  it.each([
    ['values', asValues],
    ['traces', asTraces],
  ])('have more taken out, and never less: %s', (_, known) => {
    const secrets = Array.from({ length: 1_000 }, (_, index) => `${'a'.repeat(6 + index)}b`);
    const alike = `${'a'.repeat(16_000)}b`;
    const lines = logs(`${`${alike}\n`.repeat(16)}none of it\n`, known(secrets));
    expect(lines.map((line) => line.replace(/^a*/, ''))).toEqual([...Array(16).fill('***'), 'none of it']);
  });
});

describe('a gap in a line without an end', () => {
  const secret = Array.from({ length: 300 }, (_, index) => index.toString(36)).join('-');
  const written = Buffer.from(`${'.'.repeat(900)}${secret}${'.'.repeat(900)}`);

  /** What is handed out before or behind a gap that begins, or ends, within the value. */
  const beside = (dropped: { from: number; to: number }, part: 'before' | 'behind', known: KnownSecrets) => {
    const marks = [{ end: written.length, at: 1, unattended: false }];
    const file = { path: '', base: 0, dropped: [dropped], marks, endedAt: 1 };
    const [from, to] = part === 'before' ? [0, dropped.from] : [dropped.to, written.length];
    const lines = [{ from, to, end: part === 'before' ? 'gap' : 'output' }] as const;
    const found = findLines(
      file,
      { kind: 'lines', bytes: written.subarray(from, to), from, lines },
      { text: undefined, level: undefined },
      maskFor(known),
    );
    return found.flatMap(({ line }) => (line === null ? [] : [line.log])).join('');
  };

  it.each([
    ['values', asValues],
    ['traces', asTraces],
  ])('leaves no piece of a value on either side, known by %s', (_, known) => {
    const gap = { from: 1_300, to: 1_400 };
    for (const part of ['before', 'behind'] as const)
      expect(beside(gap, part, known([secret])).replace('***', '')).toMatch(/^\.*$/);
  });
});

describe('values of which nothing is known', () => {
  it('have each line withheld, which is there all the same with its level', () => {
    const lines = shown('it is sk_1\n2026-11-20 12:00:00.000 | ERROR    | bot:main:1 - sk_1\n', {
      kind: 'unrecognisable',
    });
    expect(lines).toMatchObject([{ level: null }, { level: 'ERROR' }]);
    expect(new Set(lines.map(({ log }) => log))).toEqual(new Set([expect.stringMatching(/^\(not shown: .*\)$/)]));
    expect(tailFor({ kind: 'unrecognisable' }, 'it is sk_1')).toMatch(/^\(not shown: .*\)$/);
    expect(tailFor({ kind: 'unrecognisable' }, '')).toBe('');
  });
});
