import { ApiError, JsonText } from '@bothost/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson, parseJsonWithUniqueKeys, parseJsonWithVerbatimField } from './json-body.ts';

function problemsOf(parse: (bytes: Buffer) => unknown, text: string | Buffer) {
  try {
    parse(Buffer.from(text));
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.message).not.toContain('canary');
    return { reason: error.reason, paths: error.issues.map(({ path, message }) => `${path} ${message}`) };
  }
}

describe.each([
  ['parseJson', parseJson],
  ['parseJsonWithUniqueKeys', parseJsonWithUniqueKeys],
  ['parseJsonWithVerbatimField', (bytes: Buffer) => parseJsonWithVerbatimField(bytes, 'canary')],
])('the JSON parser %s', (_, parse) => {
  it('returns the same value as JSON.parse', () => {
    const anyJson = fc.json({ stringUnit: 'binary', maxDepth: 20 });
    fc.assert(
      fc.property(anyJson, (text) => {
        const wellFormed = Buffer.from(text).toString();
        fc.pre(!wellFormed.includes('__proto__') && !/\\u[dD][89a-fA-F]/.test(wellFormed));
        expect(parse(Buffer.from(wellFormed))).toEqual(JSON.parse(wellFormed));
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    '{"a":{"b":1},"b":{"a":1,"c":[{"a":1},{"a":1}]}}',
    '[{"a":"a"},"a","a"]',
    '{"a":"\\\\","b":"\\"a\\":"}',
    '"canary"',
    ' null ',
    '\ufeff{}',
    '"\\ud83e\\udd9c"',
    `${'['.repeat(100)}${']'.repeat(100)}`,
  ])('accepts the JSON text %s', (text) => {
    expect(problemsOf(parse, text)).toBeNull();
  });

  it('accepts strings of several megabytes', () => {
    const text = `{"a":"${'\\u0001'.repeat(700_000)}","b":"${'x'.repeat(4_000_000)}"}`;
    expect(problemsOf(parse, text)).toBeNull();
  });

  it.each([
    ['{"a":["\\ud800canary"]}', ['body.a.0 contains half of a surrogate pair']],
    ['{"a":{"\\udfffcanary":1}}', ['body.a contains half of a surrogate pair']],
    ['{"a canary":"\\ud800"}', ['body.... contains half of a surrogate pair']],
    ['{"a":{"__proto__":{"canary":1}}}', ['body.a.__proto__ is not an allowed field name']],
    [`${'{"a":'.repeat(101)}1${'}'.repeat(101)}`, ['body is nested more than 100 levels deep']],
    [`${'['.repeat(500_000)}${']'.repeat(500_000)}`, ['body is nested more than 100 levels deep']],
  ])('rejects a value that other programs cannot read: $0', (text, paths) => {
    expect(problemsOf(parse, text)).toEqual({ reason: 'invalid-request', paths });
  });

  it('rejects text that is not UTF-8 or not JSON, with a message that does not contain the text', () => {
    const bytes = Buffer.from('{"a":"canary\xff"}', 'latin1');
    expect(problemsOf(parse, bytes)).toEqual({ reason: 'invalid-json', paths: [] });
    expect(problemsOf(parse, '{"a": canary')).toEqual({ reason: 'invalid-json', paths: [] });
  });
});

describe('parseJsonWithUniqueKeys', () => {
  it.each([
    ['{"a":1,"a":2}', ['body.a appears twice']],
    [
      '{"a":"x, \\"a\\": {","b":[{"c":1,"c":"canary"},{"c":1}],"a":"canary"}',
      ['body.b.0.c appears twice', 'body.a appears twice'],
    ],
    ['{"a":1,"\\u0061":2}', ['body.a appears twice']],
    ['[[],[1,{"x":{}, "y":"}","x":[]}]]', ['body.1.1.x appears twice']],
    ['{"a canary":1,"a canary":2}', ['body.... appears twice']],
    ['{"":1,"":2}', ['body.... appears twice']],
  ])('reports each duplicate field of %s', (text, paths) => {
    expect(problemsOf(parseJsonWithUniqueKeys, text)).toEqual({ reason: 'invalid-request', paths });
    expect(problemsOf(parseJson, text)).toBeNull();
  });

  it('reports only the first 20 of thousands of duplicates', () => {
    const text = `{${Array.from({ length: 5_000 }, () => '"a":1').join()}}`;
    expect(problemsOf(parseJsonWithUniqueKeys, text)?.paths).toHaveLength(20);
  });
});

describe('parseJsonWithVerbatimField', () => {
  const parse = (text: string) => parseJsonWithVerbatimField(Buffer.from(text), 'body');

  it.each([
    ['{"body": {"n": 1234567890123456789, "m":1.0 }, "a": 1}', '{"n": 1234567890123456789, "m":1.0 }'],
    ['{"b\\u006fdy":\t[1e400,-0]\n}', '[1e400,-0]'],
    ['{"a": {"body": 1}, "b": [{"body": 2}, "body"], "body": "body"}', '"body"'],
    ['{"body": 1, "body": {"x": "}]\\",{\\\\"}, "c": ":,"}', '{"x": "}]\\",{\\\\"}'],
    ['\ufeff {"body":null}', 'null'],
    ['{"body":{"body":{"body":[]}}}', '{"body":{"body":[]}}'],
  ])('returns the text of the field in %s', (text, expected) => {
    const { body } = parse(text) as { body: unknown };
    expect(body).toEqual(new JsonText(expected));
  });

  it.each(['{}', '{"Body":1}', '{"a":"body","b":{"body":1}}', '["body",1]', '"body"', 'null'])(
    'returns the same value as JSON.parse for %s, which does not have the field',
    (text) => expect(parse(text)).toEqual(JSON.parse(text)),
  );

  it('returns a text with the same value as JSON.parse for any object', () => {
    const anyObject = fc.dictionary(fc.constantFrom('body', 'a', '"', '\\'), fc.jsonValue({ stringUnit: 'binary' }));
    fc.assert(
      fc.property(anyObject, fc.constantFrom(undefined, 1, '\t'), (object, indent) => {
        const text = JSON.stringify(object, null, indent);
        fc.pre(!text.includes('__proto__') && !/\\u[dD][89a-fA-F]/.test(text));
        const { body, ...rest } = parse(text) as { body?: JsonText };
        expect({ ...rest, ...(body === undefined ? {} : { body: JSON.parse(body.text) }) }).toEqual(JSON.parse(text));
      }),
    );
  });
});
