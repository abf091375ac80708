import { expect, test } from 'vitest';
import { logCommand, logQuery } from './log-filter.ts';

const filter = { session: '1', query: 'tea time', level: 'WARNING', since: '15m' } as const;

test('logQuery contains the chosen filters and the start of the chosen period', () => {
  expect(logQuery(filter, 1_000_000_000)).toEqual({
    sessionId: '1',
    query: 'tea time',
    level: 'WARNING',
    startTime: 1_000_000 - 900,
  });
  expect(logQuery({}, 0)).toEqual({});
});

test('logCommand prints the same lines with botcli', () => {
  expect(logCommand('home', 'parrot', filter, true)).toBe(
    "npx botcli cloud agent logs parrot --session 1 --query 'tea time' --level WARNING --since 15m --follow --organization home",
  );
});
