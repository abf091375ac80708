import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completionOf, completionOfExit } from './completion.ts';

const answered = (status: number, word: string | null = null) => ({ kind: 'answered', status, word }) as const;
const broken = { kind: 'broken', message: 'connection reset' } as const;

describe('the completion status of what a bot answered', () => {
  it.each([
    ['200 is a completed session', answered(200), 'HTTP_COMPLETED'],
    ['another status is told as it is', answered(500), '500'],
    ['so is one of another success', answered(202), '202'],
    ['a connection that broke is an error', broken, 'HTTP_ERROR'],
    ['a word of the bot counts', answered(200, 'CALLER_HUNG_UP'), 'CALLER_HUNG_UP'],
    ['also beside another status', answered(500, 'OUT_OF_CREDIT'), 'OUT_OF_CREDIT'],
    ['a bot may say that nobody came', answered(200, 'BOT_CONNECTION_TIMEOUT'), 'BOT_CONNECTION_TIMEOUT'],
    ['a bot may say that its time was over', answered(200, 'SESSION_TIME_LIMIT'), 'SESSION_TIME_LIMIT'],
    ['a word in small letters is none', answered(200, 'done'), 'HTTP_COMPLETED'],
    ['nor is an empty one', answered(200, ''), 'HTTP_COMPLETED'],
    ['nor one with a line break', answered(200, 'DONE\n'), 'HTTP_COMPLETED'],
    ['nor one of 65 characters', answered(200, 'A'.repeat(65)), 'HTTP_COMPLETED'],
    ['64 characters are one', answered(200, 'A'.repeat(64)), 'A'.repeat(64)],
  ])('%s', (_, answer, status) => {
    expect(completionOf(answer, false)).toBe(status);
  });

  it.each(['HTTP_COMPLETED', 'HTTP_ERROR', 'WS_CONNECTION_CLOSED', 'BOT_START_TIMEOUT', 'SESSION_STOPPED'])(
    "the word %s is the service's own, whatever a bot says",
    (word) => {
      expect(completionOf(answered(200, word), false)).toBe('HTTP_COMPLETED');
      expect(completionOf(answered(500, word), false)).toBe('500');
    },
  );

  it('at the limit everything ended because of it', () => {
    for (const answer of [answered(200), answered(500), answered(200, 'DONE'), broken]) {
      expect(completionOf(answer, true)).toBe('SESSION_TIME_LIMIT');
    }
  });

  it('no word makes a completed session of another answer than 200', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 599 }), fc.string({ unit: 'binary' }), (status, word) => {
        fc.pre(status !== 200);
        expect(completionOf(answered(status, word), false)).not.toBe('HTTP_COMPLETED');
      }),
    );
  });
});

describe('the completion status of an exit that nobody could ask about', () => {
  it.each([
    [0, 'HTTP_COMPLETED'],
    [1, 'HTTP_ERROR'],
    [null, 'HTTP_ERROR'],
  ])('exit code %s is %s', (code, status) => {
    expect(completionOfExit({ code })).toBe(status);
  });
});
