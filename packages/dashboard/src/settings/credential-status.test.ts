import { expect, test } from 'vitest';
import { getCredentialStatus } from './credential-status.ts';

const now = new Date('2026-11-23T12:00:00Z');

test.each([
  [{ expiresAt: null }, 'active'],
  [{ expiresAt: '2026-11-23T12:00:01.000Z', revokedAt: null }, 'active'],
  [{ expiresAt: '2026-11-23T12:00:00.000Z', revokedAt: null }, 'expired'],
  [{ expiresAt: '2026-11-22T12:00:00.000Z', revokedAt: '2026-11-21T12:00:00.000Z' }, 'revoked'],
])('getCredentialStatus classifies the credential %j as %s', (credential, expected) => {
  expect(getCredentialStatus(credential, now)).toBe(expected);
});
