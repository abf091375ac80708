import { expect, test } from 'vitest';
import { computePeriodStart, formatBotcliAuditOptions } from './audit-filter.ts';

test('computePeriodStart returns the time seven days ago for "7d", and undefined for an invalid period', () => {
  const now = new Date('2026-11-23T12:00:00Z');
  expect(computePeriodStart('7d', now)).toBe('2026-11-16T12:00:00.000Z');
  for (const text of [undefined, '', '7', 'd', '99999d', '-1d']) expect(computePeriodStart(text, now)).toBeUndefined();
});

test('formatBotcliAuditOptions returns a botcli option for each filter field that is set', () => {
  expect(formatBotcliAuditOptions({ action: 'keys.create', object: undefined, since: '7d' })).toEqual([
    '--action',
    'keys.create',
    '--since',
    '7d',
  ]);
});
