import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { isSignedDialin } from './dialin-signature.ts';

const now = new Date('2026-11-28T12:00:00Z');
const secret = Buffer.from('the secret of a domain').toString('base64');
const body = Buffer.from('{"From":"+15550100"}');
const seconds = now.getTime() / 1000;

function sign(timestamp: string, key = secret): string {
  return createHmac('sha256', Buffer.from(key, 'base64')).update(`${timestamp}.${body.toString()}`).digest('base64');
}

it.each([
  ['in seconds', String(seconds)],
  ['in milliseconds', String(now.getTime())],
  ['of five minutes ago', String(seconds - 300)],
  ['five minutes ahead', String(seconds + 300)],
])('isSignedDialin accepts a time %s', (_, timestamp) => {
  expect(isSignedDialin(secret, { timestamp, signature: sign(timestamp), body }, now)).toBe(true);
});

it.each([
  ['a time of more than five minutes ago', String(seconds - 301), undefined],
  ['a time more than five minutes ahead', String(seconds + 301), undefined],
  ['no number as its time', 'now', undefined],
  ['an empty time', '', undefined],
  ['another secret', String(seconds), sign(String(seconds), 'YW5vdGhlcg==')],
  ['another time', String(seconds), sign(String(seconds - 1))],
  ['an empty signature', String(seconds), ''],
  ['a signature that is no Base64', String(seconds), '***'],
])('isSignedDialin rejects %s', (_, timestamp, signature = sign(timestamp)) => {
  expect(isSignedDialin(secret, { timestamp, signature, body }, now)).toBe(false);
});

it('isSignedDialin rejects another body', () => {
  const timestamp = String(seconds);
  const other = Buffer.from('{"From":"+15550101"}');
  expect(isSignedDialin(secret, { timestamp, signature: sign(timestamp), body: other }, now)).toBe(false);
});
