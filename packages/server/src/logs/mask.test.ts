import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { longLineBlockBytes, splitLines } from './line-breaks.ts';
import { createSecretMask, maskOutputTail, maskTextSpans } from './mask.ts';
import { scanForMatchingLines } from './scan-lines.ts';
import { createTextSearch } from './text-search.ts';

const noFilter = { text: undefined, level: undefined };

const hexOf = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

function shown(written: string, secrets: readonly string[], text?: string): string[] {
  const bytes = Buffer.from(written);
  const file = {
    path: '',
    base: 0,
    dropped: [],
    marks: [{ end: bytes.length, at: 1, unattended: false }],
    endedAt: null,
  };
  const part = { kind: 'lines', bytes, from: 0, lines: splitLines(bytes, 0) } as const;
  const found = scanForMatchingLines(file, part, { ...noFilter, text: text?.toLowerCase() }, createSecretMask(secrets));
  return found.flatMap(({ decode }) => decode?.().log ?? []);
}

describe('createSecretMask and maskOutputTail', () => {
  it.each([
    ['a value', 'key is sk_12345!\n', ['sk_12345'], ['key is ***!']],
    ['a value twice', 'sk_12345 sk_12345\n', ['sk_12345'], ['*** ***']],
    ['a value within another', 'x abcdefgh y\n', ['cdefgh', 'abcdefgh'], ['x *** y']],
    ['overlapping values', 'x abcdefgh y\n', ['abcdef', 'cdefgh'], ['x *** y']],
    ['a value that overlaps itself', 'abababab\n', ['ababab'], ['***']],
    ['a value of several lines, line by line', 'line one\r\nline two\n', ['line one\nline two\n'], ['***', '***']],
    ['characters that are special in patterns', 'a.*b$& $1+\n', ['.*b$& $1'], ['a***+']],
    ['no short value', 'a true or 12345\n', ['true', '12345'], ['a true or 12345']],
    ['no value in another case', 'SK_12345\n', ['sk_12345'], ['SK_12345']],
  ])('mask secret values in a log line: %s', (_, written, secrets, lines) => {
    expect(shown(written, secrets)).toEqual(lines);
  });

  const hostile = 'p"ä\\ss wörd/+~!(x)*😀&=%41\n1234567\tend\n';
  const urlForm = new URLSearchParams([['k', hostile]]).toString();
  it.each([
    ['JSON', JSON.stringify({ k: hostile }), '{"k":"***"}'],
    ['JSON in ASCII', JSON.stringify({ k: hostile }).replace(/[^ -~]/g, hexOf), '{"k":"***"}'],
    ["Python's repr", `{'k': '${JSON.stringify(hostile).slice(1, -1).replaceAll('\\"', '"')}'}`, "{'k': '***'}"],
    ['a URL', `https://x/${encodeURIComponent(hostile)}?`, 'https://x/***?'],
    ['a URL with small digits', `/${encodeURIComponent(hostile).replace(/%../g, (at) => at.toLowerCase())}?`, '/***?'],
    ['a whole URL', `https://x/${encodeURI(hostile)}?`, 'https://x/***?'],
    ['a form', urlForm, 'k=***'],
    ['Base64', Buffer.from(hostile).toString('base64'), '***'],
    ['Base64 of URLs', Buffer.from(hostile).toString('base64url'), '***'],
  ])('mask a value that is encoded in %s', (_, line, left) => {
    const [log = ''] = shown(`${line}\n`, [hostile]);
    // The encoded form of a line break at the end of a value may remain unmasked.
    expect(log.replace(/=+$/, '').replace(/\*\*\*(\\n|%0[Aa]|[A-Za-z0-9_-]{1,3}(?==|$))/, '***')).toBe(left);
  });

  it.each([
    ['', ':x'],
    ['a', ''],
    ['ab', '!'],
    ['user:', '@host'],
  ])('mask a value in Base64 between the texts %j and %j', (before, behind) => {
    const key = 'sk-proj-0123456789';
    const encoded = Buffer.from(before + key + behind).toString('base64');
    const [log = ''] = shown(`Authorization: Basic ${encoded}\n`, [key]);
    const left = (log.split('Basic ')[1] ?? '').replaceAll('=', '').split('***');
    expect(left).toHaveLength(2);
    // At each end of the value, one Base64 character may remain unmasked, because it also encodes bits of the adjacent text.
    // Such a character contains at most four bits of the value.
    expect(left[0]?.length).toBe(Math.ceil((before.length * 8) / 6));
    expect(left[1]?.length).toBeLessThanOrEqual(Math.ceil((behind.length * 8) / 6) + 1);
  });

  it.each([64, 76])('mask a value in Base64 with line breaks after %i columns', (width) => {
    const key = Array.from({ length: 300 }, (_, index) => index).join(' ');
    const lines =
      Buffer.from(key)
        .toString('base64')
        .match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
    for (const line of shown(`${lines.join('\n')}\n`, [key])) expect(line.length).toBeLessThan(9);
  });

  it('find the same occurrences in one search for many secret values as in a separate search for each value', () => {
    const value = fc.string({ unit: fc.constantFrom('a', 'b', 'ä'), minLength: 6, maxLength: 8 });
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 25, maxLength: 60 }),
        fc.array(value, { maxLength: 5 }),
        (many, text) => {
          const line = text.join('b');
          const part = Buffer.from(line);
          const search = createTextSearch(many);
          expect(search.isIn(part)).toBe(many.some((one) => part.includes(one)));
          const oneByOne = many.flatMap((one) => createTextSearch([one]).spansIn(line));
          expect(maskTextSpans(search.spansIn(line), line.slice.bind(line))).toBe(
            maskTextSpans(oneByOne, line.slice.bind(line)),
          );
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('do not let a text filter match a masked value', () => {
    const written = 'one\nkey is sk_12345!\n';
    expect(shown(written, ['sk_12345'], 'sk_12345')).toEqual([]);
    expect(shown(written, ['sk_12345'], 'is sk_')).toEqual([]);
    expect(shown(written, ['sk_12345'], 'KEY IS')).toEqual(['key is ***!']);
    expect(shown(written, ['sk_12345'], '***')).toEqual(['key is ***!']);
  });

  it('mask the pieces of a value that is cut where a long line is split', () => {
    const secret = Array.from({ length: 3_000 }, (_, index) => index.toString(36)).join('-');
    for (let before = longLineBlockBytes - secret.length; before < longLineBlockBytes; before += 997) {
      const pieces = shown(`${'.'.repeat(before)}${secret}${'.'.repeat(2 * longLineBlockBytes)}\n`, [secret]);
      expect(pieces.join('').replaceAll('***', '')).toMatch(/^\.*$/);
    }
    const long = secret.repeat(5);
    expect(
      shown(`${'.'.repeat(900)}${long}.\n`, [long])
        .join('')
        .replaceAll('***', ''),
    ).toMatch(/^\.*$/);
  });

  it('mask the last character of the first part of a split line if a secret value (32,000 lines) starts with that character', () => {
    const value = Array.from({ length: 32_000 }, (_, index) => `xy${index.toString(36)}_${index}`).join('\n');
    const [first = ''] = shown(`${'.'.repeat(longLineBlockBytes - 1)}x${'.'.repeat(2 * longLineBlockBytes)}\n`, [
      value,
      value.replaceAll('_', '+'),
      value.replaceAll('_', '%'),
      value.replaceAll('_', '"'),
    ]);
    expect(first).toMatch(/^\.+\*\*\*$/);
  });

  it('mask the longest suffix of a secret value that a repetitive output tail starts with', () => {
    const repetitive = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 6, maxLength: 14 });
    fc.assert(
      fc.property(repetitive, repetitive, (secret, tail) => {
        fc.pre(!tail.includes(secret));
        const ends = Array.from({ length: secret.length - 5 }, (_, index) => secret.slice(index));
        const longest = ends.find((end) => tail.startsWith(end)) ?? '';
        expect(maskOutputTail(tail, [secret])).toBe(longest === '' ? tail : `***${tail.slice(longest.length)}`);
      }),
      { numRuns: 2_000 },
    );
  });

  it('mask long values that are almost equal', () => {
    const secrets = Array.from({ length: 7 }, (_, index) => `${'a'.repeat(65_000)}b${index}`);
    const pieces = shown(`${'a'.repeat(32 * longLineBlockBytes)}\n`, secrets);
    expect(pieces.join('').replaceAll('***', '')).toBe('');
  });

  it('mask an output line that contains any of the 4,000 similar lines of a secret value', () => {
    const line = (index: number) => `    "${String(index).padStart(9, 'x')}",`;
    const value = Array.from({ length: 4_000 }, (_, index) => line(index)).join('\n');
    const written = Array.from({ length: 4_000 }, () => '    "xxxxxxxx",\n').join('');
    const lines = shown(`${written}${line(7)} ä\n`, [value]);
    expect([lines.length, lines.at(0), lines.at(-1)]).toEqual([4_001, '    "xxxxxxxx",', '*** ä']);
  });

  it.each([
    ['boot\nkey sk_12345\nend', ['sk_12345'], 'boot\nkey ***\nend'],
    ['k_12345 and on\nend', ['sk_12345'], '*** and on\nend'],
    ['5 and on\nend', ['sk_12345'], '5 and on\nend'],
    ['one\r\ntwo and', ['line one\nline two'], 'one\r\ntwo and'],
    ['line one\r\nline two', ['line one\nline two'], '***\r\n***'],
    ['', ['sk_12345'], ''],
  ])('mask values in the output tail %j', (tail, secrets, words) => {
    expect(maskOutputTail(tail, secrets)).toBe(words);
  });

  it('mask every value and change no other text', () => {
    const secret = fc.string({ unit: fc.constantFrom('a', 'b', '😀', '*'), minLength: 6, maxLength: 9 });
    const noise = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '😀', ' '), maxLength: 12 });
    fc.assert(
      fc.property(
        fc.array(secret, { maxLength: 3 }),
        fc.array(noise, { minLength: 1, maxLength: 5 }),
        (secrets, rest) => {
          const written = rest.map((text, index) => text + (secrets[index] ?? '')).join('');
          const [log = ''] = shown(`${written}\n`, secrets);
          for (const one of secrets) if (!one.includes('*')) expect(log).not.toContain(one);
          if (secrets.every((one) => !written.includes(one))) expect(log).toBe(written);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('mask thousands of overlapping values as one span', () => {
    const secrets = Array.from({ length: 1_000 }, (_, index) => 'a'.repeat(6 + index));
    const pieces = shown(`${'a'.repeat(16 * longLineBlockBytes)}\n`, secrets);
    expect(pieces.slice(0, -1)).toEqual(Array.from({ length: 16 }, () => '***'));
  });

  it('mask too much rather than too little in an output line that exceeds the limit of hash comparisons per line', () => {
    const secrets = Array.from({ length: 1_000 }, (_, index) => `${'a'.repeat(6 + index)}b`);
    const slow = `${'a'.repeat(16_000)}b`;
    const lines = shown(`${`${slow}\n`.repeat(16)}none of it\n`, secrets);
    expect(lines.map((line) => line.replace(/^a*/, ''))).toEqual([...Array(16).fill('***'), 'none of it']);
  });

  it('mask the remaining pieces of a secret value whose middle was dropped from the output', () => {
    const secret = Array.from({ length: 300 }, (_, index) => index.toString(36)).join('-');
    const written = Buffer.from(`${'.'.repeat(900)}${secret}${'.'.repeat(900)}`);
    const dropped = { from: 1_300, to: 1_400 };
    const marks = [{ end: written.length, at: 1, unattended: false }];
    const file = { path: '', base: 0, dropped: [dropped], marks, endedAt: 1 };
    for (const [from, to, end] of [
      [0, dropped.from, 'gap'],
      [dropped.to, written.length, 'output'],
    ] as const) {
      const part = { kind: 'lines', bytes: written.subarray(from, to), from, lines: [{ from, to, end }] } as const;
      const found = scanForMatchingLines(file, part, noFilter, createSecretMask([secret]));
      const text = found.flatMap(({ decode }) => decode?.().log ?? []).join('');
      expect(text.replace('***', '')).toMatch(/^\.*$/);
    }
  });
});
