import { expect, it } from 'vitest';
import {
  createExpiryWarning,
  formatCredentialFields,
  formatExpiryCell,
  formatVerificationCell,
} from './verification.ts';

const now = new Date('2026-11-20T12:00:00.000Z');

it.each([
  [null, null],
  ['2026-11-20T11:59:59.000Z', 'the credentials of hub expired at 2026-11-20T11:59:59Z; set new ones'],
  ['2026-11-20T12:00:00.000Z', 'the credentials of hub expired at 2026-11-20T12:00:00Z; set new ones'],
  ['2026-11-21T12:00:00.000Z', 'the credentials of hub expire at 2026-11-21T12:00:00Z; set new ones before'],
  ['2026-11-21T12:00:01.000Z', null],
])('expiryWarning for credentials that expire at %s returns: %s', (iso, warning) =>
  expect(createExpiryWarning('hub', iso, now)).toBe(warning),
);

it('marks expired and soon expiring credentials in terminal output, but not in plain output', () => {
  expect(formatExpiryCell('2026-11-20T11:00:00.000Z', now)).toEqual({
    text: '2026-11-20T11:00:00.000Z',
    rich: '2026-11-20 11:00:00Z, expired',
    tone: 'bad',
  });
  expect(formatExpiryCell('2026-11-20T13:00:00.000Z', now)).toMatchObject({
    rich: '2026-11-20 13:00:00Z, soon',
    tone: 'warn',
  });
  expect(formatExpiryCell(null, now)).toMatchObject({ text: '' });
});

it('shows the time and message of the last verification', () => {
  const verification = { result: 'rejected', message: 'No.', image: null, checkedAt: now.toISOString() } as const;
  const fields = formatCredentialFields({ expiresAt: null, verification }, now);
  expect(fields.map(([label]) => label)).toEqual(['Expires', 'Verification', 'Checked', 'Result']);
  expect(formatVerificationCell(verification)).toEqual({ text: 'rejected', rich: 'Rejected', tone: 'bad' });
  expect(formatVerificationCell(null)).toMatchObject({ text: '' });
});
