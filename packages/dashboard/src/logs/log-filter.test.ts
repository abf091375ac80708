import { expect, test } from 'vitest';
import { createLogQuery, formatLogsCommand } from './log-filter.ts';

const filter = { session: '1', query: 'tea time', level: 'WARNING', since: '15m' } as const;

test('createLogQuery converts a filter to query parameters, and its period to a start time', () => {
  expect(createLogQuery(filter, 1_000_000_000)).toEqual({
    sessionId: '1',
    query: 'tea time',
    level: 'WARNING',
    startTime: 1_000_000 - 900,
  });
  expect(createLogQuery({}, 0)).toEqual({});
  expect(createLogQuery({ from: 10, to: 20 }, 0)).toEqual({ startTime: 10, endTime: 20 });
});

test('formatLogsCommand returns the botcli command that prints the log lines that match a filter', () => {
  expect(formatLogsCommand('home', 'parrot', filter, true)).toBe(
    "botcli cloud agent logs parrot --session 1 --query 'tea time' --level WARNING --since 15m --follow --organization home",
  );
});
