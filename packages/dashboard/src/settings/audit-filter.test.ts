import { expect, test } from 'vitest';
import { formatBotcliAuditOptions } from './audit-filter.ts';

test('formatBotcliAuditOptions returns a botcli option for each filter field that is set', () => {
  expect(formatBotcliAuditOptions({ action: 'keys.create', object: undefined, since: '7d' })).toEqual([
    '--action',
    'keys.create',
    '--since',
    '7d',
  ]);
});
