import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveStatusFromBotExit, deriveStatusFromBotResponse, deriveStatusFromSocketEnd } from './completion.ts';

const answered = (status: number, ownStatus: string | null = null) =>
  ({ kind: 'responded', status, ownStatus }) as const;
const broken = { kind: 'broken', message: 'connection reset', isUndelivered: false } as const;

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

describe('deriveStatusFromSocketEnd', () => {
  it.each([
    ['the client closed the socket', { by: 'client' }, null, 'WS_CONNECTION_CLOSED'],
    ['the service could not continue to relay', { by: 'service' }, null, 'SERVICE_INTERRUPTED'],
    ['the bot closed with 1000', { by: 'bot', code: 1000 }, null, 'WS_CONNECTION_CLOSED'],
    ['the bot closed without a code', { by: 'bot', code: 1005 }, null, 'WS_CONNECTION_CLOSED'],
    ['the bot closed with a code of its own', { by: 'bot', code: 4011 }, null, 'WS_CONNECTION_CLOSED'],
    ['the bot closed with 1011', { by: 'bot', code: 1011 }, null, '500'],
    ['the bot closed with 1012', { by: 'bot', code: 1012 }, null, '503'],
    ['the connection to the bot broke', { by: 'bot', code: 1006 }, null, 'HTTP_ERROR'],
    ['the bot raised an exception after it closed with 1000', { by: 'bot', code: 1000 }, { status: 500 }, '500'],
    [
      'the bot reports success after it closed with 1000',
      { by: 'bot', code: 1000 },
      { status: 200 },
      'WS_CONNECTION_CLOSED',
    ],
    [
      'the bot closed at its time limit',
      { by: 'bot', code: 1000 },
      { status: 200, completionStatus: 'SESSION_TIME_LIMIT' },
      'SESSION_TIME_LIMIT',
    ],
    [
      'the bot reports a status that only the service sets',
      { by: 'bot', code: 1000 },
      { completionStatus: 'SESSION_STOPPED' },
      'WS_CONNECTION_CLOSED',
    ],
  ] as const)('if %s, returns $3', (_, end, report, status) => {
    expect(deriveStatusFromSocketEnd(end, report, false)).toBe(status);
  });

  it('returns SESSION_TIME_LIMIT only for a bot that ends its socket at the time limit', () => {
    expect(deriveStatusFromSocketEnd({ by: 'bot', code: 1006 }, null, true)).toBe('SESSION_TIME_LIMIT');
    expect(deriveStatusFromSocketEnd({ by: 'client' }, null, true)).toBe('WS_CONNECTION_CLOSED');
  });
});

describe('deriveStatusFromBotExit', () => {
  it.each([
    [0, null, false, 'HTTP_COMPLETED'],
    [1, null, false, 'HTTP_ERROR'],
    [null, null, false, 'HTTP_ERROR'],
    [null, 'SIGTERM', false, 'HTTP_ERROR'],
    [0, null, true, 'HTTP_COMPLETED'],
    [1, null, true, 'HTTP_ERROR'],
    [null, null, true, 'HTTP_ERROR'],
    [null, 'SIGTERM', true, 'HTTP_COMPLETED'],
    [null, 'SIGKILL', true, 'HTTP_ERROR'],
  ])('maps exit code %s, signal %s and drained %s to the status %s', (code, signal, isDrained, status) => {
    expect(deriveStatusFromBotExit({ code, signal }, isDrained)).toBe(status);
  });
});
