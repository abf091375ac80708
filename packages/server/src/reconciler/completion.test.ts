import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completionOf, completionOfExit } from './completion.ts';

const answered = (status: number, ownStatus: string | null = null) =>
  ({ kind: 'responded', status, ownStatus }) as const;
const broken = { kind: 'broken', message: 'connection reset' } as const;

describe('completionOf', () => {
  it.each([
    ['200 is a completed session', answered(200), 'HTTP_COMPLETED'],
    ['another status is told as it is', answered(500), '500'],
    ['so is one of another success', answered(202), '202'],
    ['a connection that broke is an error', broken, 'HTTP_ERROR'],
    ['a ownStatus of the bot counts', answered(200, 'CALLER_HUNG_UP'), 'CALLER_HUNG_UP'],
    ['also beside another status', answered(500, 'OUT_OF_CREDIT'), 'OUT_OF_CREDIT'],
    ['a bot may say that nobody came', answered(200, 'BOT_CONNECTION_TIMEOUT'), 'BOT_CONNECTION_TIMEOUT'],
    ['a bot may say that its time was over', answered(200, 'SESSION_TIME_LIMIT'), 'SESSION_TIME_LIMIT'],
    ['a ownStatus in small letters is none', answered(200, 'done'), 'HTTP_COMPLETED'],
    ['nor is an empty one', answered(200, ''), 'HTTP_COMPLETED'],
    ['nor one with a line break', answered(200, 'DONE\n'), 'HTTP_COMPLETED'],
    ['nor one of 65 characters', answered(200, 'A'.repeat(65)), 'HTTP_COMPLETED'],
    ['64 characters are one', answered(200, 'A'.repeat(64)), 'A'.repeat(64)],
  ])('%s', (_, answer, status) => {
    expect(completionOf(answer, false)).toBe(status);
  });

  it.each(['HTTP_COMPLETED', 'HTTP_ERROR', 'WS_CONNECTION_CLOSED', 'BOT_START_TIMEOUT', 'SESSION_STOPPED'])(
    "the ownStatus %s is the service's own, whatever a bot says",
    (ownStatus) => {
      expect(completionOf(answered(200, ownStatus), false)).toBe('HTTP_COMPLETED');
      expect(completionOf(answered(500, ownStatus), false)).toBe('500');
    },
  );

  it('returns SESSION_TIME_LIMIT for every response at the limit', () => {
    for (const answer of [answered(200), answered(500), answered(200, 'DONE'), broken]) {
      expect(completionOf(answer, true)).toBe('SESSION_TIME_LIMIT');
    }
  });

  it('returns HTTP_COMPLETED only for status 200', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 599 }), fc.string({ unit: 'binary' }), (status, ownStatus) => {
        fc.pre(status !== 200);
        expect(completionOf(answered(status, ownStatus), false)).not.toBe('HTTP_COMPLETED');
      }),
    );
  });
});

describe('completionOfExit', () => {
  it.each([
    [0, 'HTTP_COMPLETED'],
    [1, 'HTTP_ERROR'],
    [null, 'HTTP_ERROR'],
  ])('exit code %s is %s', (code, status) => {
    expect(completionOfExit({ code })).toBe(status);
  });
});
