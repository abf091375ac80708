import { ApiError } from '@bothost/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExactJson } from './exact-json.ts';

const problemsOf = (text: string | Buffer) => {
  try {
    parseExactJson(Buffer.from(text));
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.message).not.toContain('canary');
    return { reason: error.reason, paths: error.issues.map(({ path, message }) => `${path} ${message}`) };
  }
};

describe('a body of which every byte counts', () => {
  it('is what JSON says it is', () => {
    const anyJson = fc.json({ stringUnit: 'binary' });
    fc.assert(
      fc.property(anyJson, (text) => {
        const wellFormed = Buffer.from(text).toString();
        fc.pre(!wellFormed.includes('__proto__'));
        expect(parseExactJson(Buffer.from(wellFormed))).toEqual(JSON.parse(wellFormed));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['{"a":1,"a":2}', ['body.a is there twice']],
    [
      '{"a":"x, \\"a\\": {","b":[{"c":1,"c":"canary"},{"c":1}],"a":"canary"}',
      ['body.b.0.c is there twice', 'body.a is there twice'],
    ],
    ['{"a":1,"\\u0061":2}', ['body.a is there twice']],
    ['[[],[1,{"x":{}, "y":"}","x":[]}]]', ['body.1.1.x is there twice']],
    ['{"a canary":1,"a canary":2}', ['body.... is there twice']],
    ['{"":1,"":2}', ['body.... is there twice']],
    ['{"a":{"__proto__":{"canary":1}}}', ['body.a.__proto__ is no field']],
    ['{"__proto__":1,"__proto__":2}', ['body.__proto__ is no field', 'body.__proto__ is there twice']],
  ])('names each field of %s that cannot be', (text, paths) => {
    expect(problemsOf(text)).toEqual({ reason: 'invalid-request', paths });
  });

  it.each([
    '{"a":{"b":1},"b":{"a":1,"c":[{"a":1},{"a":1}]}}',
    '[{"a":"a"},"a","a"]',
    '{"a":"\\\\","b":"\\"a\\":"}',
    '"canary"',
    ' null ',
  ])('%s names nothing twice', (text) => {
    expect(problemsOf(text)).toBeNull();
  });

  it('is not repaired: no replacement of bytes that are no UTF-8, and none of its text in the refusal', () => {
    const bytes = Buffer.from('{"a":"canary\xff"}', 'latin1');
    expect(problemsOf(bytes)).toEqual({ reason: 'invalid-json', paths: [] });
    expect(problemsOf('{"a": canary')).toEqual({ reason: 'invalid-json', paths: [] });
    expect(problemsOf('\ufeff{}')).toEqual({ reason: 'invalid-json', paths: [] });
  });

  it('may lie as deep as there is room for, and is read at once all the same', () => {
    const depth = 500_000;
    const nested = (inner: string) => `${'{"a":'.repeat(depth)}${inner}${'}'.repeat(depth)}`;
    expect(problemsOf(nested('"canary"'))).toBeNull();
    const { paths } = problemsOf(nested('{"b":1,"b":2}')) ?? {};
    expect(paths).toEqual([`body${'.a'.repeat(16)}.....b is there twice`]);
  });

  it('may be one string of megabytes, escapes and all', () => {
    expect(problemsOf(`{"a":"${'\\u0001'.repeat(700_000)}","b":"${'x'.repeat(4_000_000)}"}`)).toBeNull();
  });

  it('says of thousands of them the first twenty', () => {
    const text = `{${Array.from({ length: 5_000 }, () => '"a":1').join()}}`;
    expect(problemsOf(text)?.paths).toHaveLength(20);
  });
});
