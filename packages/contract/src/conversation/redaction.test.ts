import { describe, expect, it } from 'vitest';
import { ConversationRedaction } from './redaction.ts';

const problemsOf = (...rules: string[]) =>
  ConversationRedaction.safeParse(rules).error?.issues.map(({ message }) => message) ?? [];

describe('ConversationRedaction', () => {
  it.each([
    'card',
    'email',
    'phone',
    'iban',
    '/C-[0-9]{6}/',
    '/\\b[A-Z]{2}\\d{6}\\b/',
    '/(?:Kunde|customer) \\d+/',
    '/[A-Z]+-\\d+/',
    '/room \\d{1,4}[a-z]?/',
    '/Müller|Čapek/',
    '/(?:\\d ?){9}/',
  ])('accepts %s', (rule) => {
    expect(problemsOf(rule)).toEqual([]);
  });

  it.each([
    ['cards', /use card, iban, email, phone, or a regular expression between slashes/],
    ['//', /regular expression between slashes/],
    ['/(a+)+b/', /may take too long/],
    ['/(a|a)*b/', /may take too long/],
    ['/(a|b|ab){30}c/', /may take too long/],
    ['/(?:a?){40}a/', /may take too long/],
    ['/a*a*a*b/', /may take too long/],
    ['/(a*)*/', /may take too long/],
    ['/\\d*/', /matches the empty text/],
    ['/\\b/', /matches the empty text/],
    ['/a|/', /matches the empty text/],
    ['/(a/', /"\(" without "\)"/],
    ['/a)/', /"\)" without "\("/],
    ['/[a/', /"\[" without "\]"/],
    ['/a{2,1}/', /wrong order/],
    ['/+a/', /nothing to repeat/],
    ['/a**/', /repeated/],
    ['/(?=a)b/', /look-around/],
    ['/(?<name>a)/', /named groups/],
    ['/(?i)a/', /flags/],
    ['/(a)\\1/', /not supported/],
    ['/\\p{L}/', /not supported/],
    ['/\\u0041/', /not supported/],
    ['/[a[b]]/', /set operations/],
    ['/[a--b]/', /set operations/],
  ])('rejects %s with the reason', (rule, message) => {
    expect(problemsOf(rule)).toEqual([expect.stringMatching(message)]);
  });

  it('rejects too many and too long rules', () => {
    expect(problemsOf(...Array.from({ length: 21 }, () => 'card'))).toHaveLength(1);
    expect(problemsOf(`/${'a'.repeat(200)}/`)).toHaveLength(1);
    expect(problemsOf(...Array.from({ length: 6 }, () => `/${'a'.repeat(180)}/`))).toHaveLength(1);
  });
});
