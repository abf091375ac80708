import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveStatusFromBotExit, deriveStatusFromBotResponse } from './completion.ts';

const answered = (status: number, ownStatus: string | null = null) =>
  ({ kind: 'responded', status, ownStatus }) as const;
const broken = { kind: 'broken', message: 'connection reset' } as const;

describe('deriveStatusFromBotResponse', () => {
  it.each([
    ['200 means that the session completed', answered(200), 'HTTP_COMPLETED'],
    ['another status is reported unchanged', answered(500), '500'],
    ['another success status is reported unchanged', answered(202), '202'],
    ['a lost connection is an error', broken, 'HTTP_ERROR'],
    ['a completion status from the bot takes precedence', answered(200, 'CALLER_HUNG_UP'), 'CALLER_HUNG_UP'],
    [
      'a completion status from the bot takes precedence over an error status',
      answered(500, 'OUT_OF_CREDIT'),
      'OUT_OF_CREDIT',
    ],
    ['a bot may report that no client connected', answered(200, 'BOT_CONNECTION_TIMEOUT'), 'BOT_CONNECTION_TIMEOUT'],
    ['a bot may report that its time limit was reached', answered(200, 'SESSION_TIME_LIMIT'), 'SESSION_TIME_LIMIT'],
    ['a completion status in lower case is ignored', answered(200, 'done'), 'HTTP_COMPLETED'],
    ['an empty completion status is ignored', answered(200, ''), 'HTTP_COMPLETED'],
    ['a completion status with a line break is ignored', answered(200, 'DONE\n'), 'HTTP_COMPLETED'],
    ['a completion status of 65 characters is ignored', answered(200, 'A'.repeat(65)), 'HTTP_COMPLETED'],
    ['a completion status of 64 characters is accepted', answered(200, 'A'.repeat(64)), 'A'.repeat(64)],
  ])('%s', (_, answer, status) => {
    expect(deriveStatusFromBotResponse(answer, false)).toBe(status);
  });

  it.each(['HTTP_COMPLETED', 'HTTP_ERROR', 'WS_CONNECTION_CLOSED', 'BOT_START_TIMEOUT', 'SESSION_STOPPED'])(
    "ignores the reserved status %s in a bot's response",
    (ownStatus) => {
      expect(deriveStatusFromBotResponse(answered(200, ownStatus), false)).toBe('HTTP_COMPLETED');
      expect(deriveStatusFromBotResponse(answered(500, ownStatus), false)).toBe('500');
    },
  );

  it('returns SESSION_TIME_LIMIT for every response that a bot sends at the time limit', () => {
    for (const answer of [answered(200), answered(500), answered(200, 'DONE'), broken]) {
      expect(deriveStatusFromBotResponse(answer, true)).toBe('SESSION_TIME_LIMIT');
    }
  });

  it('returns HTTP_COMPLETED only for status 200', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 599 }), fc.string({ unit: 'binary' }), (status, ownStatus) => {
        fc.pre(status !== 200);
        expect(deriveStatusFromBotResponse(answered(status, ownStatus), false)).not.toBe('HTTP_COMPLETED');
      }),
    );
  });
});

describe('deriveStatusFromBotExit', () => {
  it.each([
    [0, 'HTTP_COMPLETED'],
    [1, 'HTTP_ERROR'],
    [null, 'HTTP_ERROR'],
  ])('maps exit code %s to the status %s', (code, status) => {
    expect(deriveStatusFromBotExit({ code })).toBe(status);
  });
});
