import { expect, it } from 'vitest';
import { findTimeWithin, parseWrittenTime } from './written-time.ts';

const us = (clock: string) => {
  const time = parseWrittenTime(`2026-11-20 ${clock}`);
  if (time === null) throw new Error(clock);
  return time.at;
};

it.each([
  ['12:00:00.950', '12:00:00.900000', '12:00:01.000000', false, '12:00:00.950'],
  ['12:00:00.900', '12:00:00.900400', '12:00:01.000000', false, '12:00:00.900'],
  ['12:00:00.899', '12:00:00.900400', '12:00:01.000000', false, null],
  ['12:00:01.001', '12:00:00.900000', '12:00:01.000000', false, null],
  // The bot's zone is one hour before, or one and a half after UTC.
  ['11:00:00.950', '12:00:00.900000', '12:00:01.000000', false, '12:00:00.950'],
  ['13:30:00.950', '12:00:00.900000', '12:00:01.000000', false, '12:00:00.950'],
  ['11:00:00.950', '10:00:00.000000', '12:00:01.000000', false, '12:00:00.950'],
  ['12:00:00.950+01:00', '12:00:00.900000', '12:00:01.000000', false, null],
  ['13:00:00.950+01:00', '12:00:00.900000', '12:00:01.000000', false, '12:00:00.950'],
  // The service was not running: the line can be much older.
  ['11:00:00.950', '10:00:00.000000', '12:00:01.000000', true, '11:00:00.950'],
  // The first lines of a bot.
  ['12:00:00.950', null, '12:00:01.000000', false, '12:00:00.950'],
  ['11:50:00.950Z', null, '12:00:01.000000', false, null],
])(
  'findTimeWithin of %s, read after %s and until %s, unattended %s, returns %s',
  (written, after, at, unattended, expected) => {
    const time = parseWrittenTime(`2026-11-20 ${written}`);
    if (time === null) throw new Error(written);
    const read = { after: after === null ? null : us(after), at: us(at), unattended };
    expect(findTimeWithin(time, read)?.at ?? null).toBe(expected === null ? null : us(expected));
  },
);
