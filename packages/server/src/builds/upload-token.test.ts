import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isValidUploadToken, signUploadToken } from './upload-token.ts';

const key = randomBytes(32);
const id = '01a1fa86-fd52-71b7-bcd0-eeb1d0443f08';
const other = '01a1fa87-3ad9-70a8-8d12-814ad4b066f5';
const now = new Date('2026-11-20T12:00:00Z');
const inSeconds = (seconds: number) => new Date(now.getTime() + seconds * 1000);
const token = signUploadToken(key, id, inSeconds(900));
const [seconds = '', signature = ''] = token.split('.');

describe('isValidUploadToken', () => {
  it('accepts a token for its own upload until the token expires', () => {
    expect(isValidUploadToken(key, id, token, now)).toBe(true);
    expect(isValidUploadToken(key, id.toUpperCase(), token, inSeconds(899))).toBe(true);
    expect(isValidUploadToken(key, id, token, inSeconds(900))).toBe(false);
    expect(isValidUploadToken(key, other, token, now)).toBe(false);
    expect(isValidUploadToken(randomBytes(32), id, token, now)).toBe(false);
  });

  it.each([
    ['nothing', ''],
    ['a single dot', '.'],
    ['no signature', seconds],
    ['an empty signature', `${seconds}.`],
    ['an expiry that was moved later', `${Number(seconds) + 1}.${signature}`],
    ['an additional part', `${token}.x`],
    ['a wrong signature', `${seconds}.${Buffer.alloc(32).toString('base64url')}`],
    ['an invalid time', `soon.${createHmac('sha256', key).update(`${id} soon`).digest('base64url')}`],
  ])('rejects a malformed or forged token: %s', (_, wrong) => {
    expect(isValidUploadToken(key, id, wrong, now)).toBe(false);
  });
});
