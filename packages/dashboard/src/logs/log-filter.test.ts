import { expect, test } from 'vitest';
import { createLogQuery, formatCliLogsCommand } from './log-filter.ts';

const filter = { session: '1', query: 'tea time', level: 'WARNING', since: '15m' } as const;

test('createLogQuery converts a filter to query parameters, and its period to a start time', () => {
  expect(createLogQuery(filter, 1_000_000_000)).toEqual({
    sessionId: '1',
    query: 'tea time',
    level: 'WARNING',
    startTime: 1_000_000 - 900,
  });
  expect(createLogQuery({}, 0)).toEqual({});
});

test('formatCliLogsCommand returns the botcli command that prints the log lines that match a filter', () => {
  expect(formatCliLogsCommand('home', 'parrot', filter, true)).toBe(
    "botcli cloud agent logs parrot --session 1 --query 'tea time' --level WARNING --since 15m --follow --organization home",
  );
});
