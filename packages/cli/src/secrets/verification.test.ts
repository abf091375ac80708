import { expect, it } from 'vitest';
import { credentialFields, expiryCell, expiryWarning, verificationCell } from './verification.ts';

const now = new Date('2026-11-20T12:00:00.000Z');

it.each([
  [null, null],
  ['2026-11-20T11:59:59.000Z', 'the credentials of hub expired at 2026-11-20T11:59:59Z; set new ones'],
  ['2026-11-20T12:00:00.000Z', 'the credentials of hub expired at 2026-11-20T12:00:00Z; set new ones'],
  ['2026-11-21T12:00:00.000Z', 'the credentials of hub expire at 2026-11-21T12:00:00Z; set new ones before'],
  ['2026-11-21T12:00:01.000Z', null],
])('expiryWarning for credentials that expire at %s returns: %s', (iso, warning) =>
  expect(expiryWarning('hub', iso, now)).toBe(warning),
);

it('marks credentials that have expired or expire soon on a terminal, but not in plain output', () => {
  expect(expiryCell('2026-11-20T11:00:00.000Z', now)).toEqual({
    text: '2026-11-20T11:00:00.000Z',
    rich: '2026-11-20 11:00:00Z, expired',
    tone: 'bad',
  });
  expect(expiryCell('2026-11-20T13:00:00.000Z', now)).toMatchObject({
    rich: '2026-11-20 13:00:00Z, soon',
    tone: 'warn',
  });
  expect(expiryCell(null, now)).toMatchObject({ text: '' });
});

it('shows the time and message of the last verification', () => {
  const verification = { result: 'rejected', message: 'No.', image: null, checkedAt: now.toISOString() } as const;
  const fields = credentialFields({ expiresAt: null, verification }, now);
  expect(fields.map(([label]) => label)).toEqual(['Expires', 'Verification', 'Checked', 'Result']);
  expect(verificationCell(verification)).toEqual({ text: 'rejected', rich: 'Rejected', tone: 'bad' });
  expect(verificationCell(null)).toMatchObject({ text: '' });
});
