import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signToken, verifyToken } from './socket-token.ts';

const key = randomBytes(32);
const now = new Date('2026-11-20T12:00:00.000Z');
const seconds = now.getTime() / 1000;
const payload = { agent: 'parrot', org: 'home', session: '0192f0c4-7d2a-7c11-8a53-6f2f4d1f0a11', exp: seconds + 300 };
const token = signToken(key, payload);

it('signToken returns a token that needs no percent-encoding', () => {
  expect(encodeURIComponent(token)).toBe(token);
});

describe('verifyToken', () => {
  it('returns the payload of a signed token', () => {
    expect(verifyToken(key, token, now)).toEqual(payload);
  });

  it('rejects a token as soon as its expiry time is reached', () => {
    expect(verifyToken(key, token, new Date((seconds + 300) * 1000 - 1))).toEqual(payload);
    expect(verifyToken(key, token, new Date((seconds + 300) * 1000))).toBeNull();
  });

  it('rejects a token signed by another service', () => {
    expect(verifyToken(randomBytes(32), token, now)).toBeNull();
  });

  it.each(['', '.', '..', 'a.b', token.split('.')[0] ?? '', `${token}.`, `.${token}`, `${token}.x`])(
    'rejects a malformed token (%j)',
    (text) => {
      expect(verifyToken(key, text, now)).toBeNull();
    },
  );

  it('rejects a token with one character replaced, removed or added, unless it decodes to the same bytes', () => {
    const character = fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=%');
    fc.assert(
      fc.property(fc.nat(token.length), fc.constantFrom(0, 1), character, (at, removed, added) => {
        const changed = token.slice(0, at) + added + token.slice(at + removed);
        const [text = '', signature = ''] = token.split('.');
        const [otherText = '', otherSignature = ''] = changed.split('.');
        const same =
          text === otherText &&
          Buffer.from(signature, 'base64url').equals(Buffer.from(otherSignature, 'base64url')) &&
          changed.split('.').length === 2;
        expect(verifyToken(key, changed, now)).toEqual(same ? payload : null);
      }),
      { numRuns: 500 },
    );
  });

  it('rejects a token whose payload was replaced', () => {
    fc.assert(
      fc.property(fc.record({ agent: fc.string(), org: fc.string(), session: fc.uuid(), exp: fc.nat() }), (other) => {
        const forged = Buffer.from(JSON.stringify(other)).toString('base64url');
        expect(verifyToken(key, `${forged}.${token.split('.')[1]}`, now)).toBeNull();
      }),
    );
  });
});
