import { describe, expect, it } from 'vitest';
import { explainSessionEnd, nameSessionEnd } from './explain-session-end.ts';
import type { SessionEvent, SessionEventOfThisVersion } from './operations/session-events.ts';

const eventTs = '2026-11-23T12:00:00.000Z';
type Exit = Extract<SessionEventOfThisVersion, { eventCode: 'INSTANCE_EXITED' }>['detail'];
const exited = (detail: Partial<Exit>): SessionEvent => ({
  eventCode: 'INSTANCE_EXITED',
  eventTs,
  detail: { code: null, signal: null, outOfMemory: false, ...detail },
});
const startFailed: SessionEvent = {
  eventCode: 'INSTANCE_START_FAILED',
  eventTs,
  detail: { cause: 'The bot exited with code 1 before it was ready.' },
};
const refused: SessionEvent = { eventCode: 'SOCKET_REFUSED', eventTs, detail: { status: 404, phrase: 'Not Found' } };
const raised: SessionEvent = {
  eventCode: 'BOT_FAILED',
  eventTs,
  detail: { status: 500, exceptionType: 'ValueError', exceptionMessage: 'no seeds', tail: '' },
};
const diskLimit = 'The instance used 9 MiB of disk space. An instance may use 8 MiB.';

describe('explainSessionEnd', () => {
  it.each([null, 'HTTP_COMPLETED', 'WS_CONNECTION_CLOSED', 'SESSION_STOPPED', 'CALLER_HUNG_UP'])(
    'returns null for the completion status %s',
    (completionStatus) => {
      expect(explainSessionEnd({ completionStatus, events: [], botStartSeconds: 0 })).toBeNull();
    },
  );

  it.each<[string, string, SessionEvent[], string]>([
    ['the time limit', 'SESSION_TIME_LIMIT', [], 'time limit'],
    ['no client', 'BOT_CONNECTION_TIMEOUT', [], 'No client connected in time'],
    ['no ready bot', 'BOT_START_TIMEOUT', [], 'No bot became ready'],
    ['a refused WebSocket', '404', [refused], 'responded 404 Not Found instead'],
    ['a failed start', 'HTTP_ERROR', [startFailed], 'exited with code 1 before it was ready.'],
    ['an exit after a failed start', 'HTTP_ERROR', [startFailed, exited({ code: 3 })], 'exited with status 3'],
    ['an exit status', 'HTTP_ERROR', [exited({ code: 3 })], 'exited with status 3'],
    ['a signal', 'HTTP_ERROR', [exited({ signal: 'SIGSEGV' })], 'signal SIGSEGV'],
    ['a lack of memory', 'HTTP_ERROR', [exited({ signal: 'SIGKILL', outOfMemory: true })], 'more memory'],
    ['a full disk', 'HTTP_ERROR', [exited({ signal: 'SIGKILL', diskLimit })], `its disk usage. ${diskLimit}`],
    ['an eviction', 'HTTP_ERROR', [exited({ platformCause: 'Evicted: low on memory.' })], 'Evicted: low on memory.'],
    ['an unknown exit', 'HTTP_ERROR', [exited({})], 'exit status is unknown'],
    ['a dropped connection', 'HTTP_ERROR', [], 'dropped its connection'],
    ['an exception', '500', [raised], 'The bot raised ValueError: no seeds.'],
    ['a killed service', 'SERVICE_INTERRUPTED', [], 'The service stopped'],
    ['a room that cannot be decrypted', 'SERVICE_INTERRUPTED', [], 'could not decrypt its room'],
    ['an error response', '500', [], 'failed: it responded with HTTP status 500'],
    ['a redirect', '302', [], 'failed: it responded with HTTP status 302'],
  ])('names the cause of a failed session: %s', (_, completionStatus, events, cause) => {
    expect(explainSessionEnd({ completionStatus, events, botStartSeconds: 1 })?.cause).toContain(cause);
  });

  it('says what to check if no client connected, also for a phone call', () => {
    const ended = { completionStatus: 'BOT_CONNECTION_TIMEOUT', events: [], botStartSeconds: null };
    expect(explainSessionEnd(ended)?.next).toMatch(/start response.*phone call.*carrier/);
  });

  it.each([
    ['APITimeoutError', true],
    ['openai.APIConnectionError', true],
    ['websockets.exceptions.ConnectionClosedError', true],
    ['RateLimitError', true],
    ['ServerDisconnectedError', true],
    ['KeyError', false],
    [null, false],
  ])('for the exception %s, advises to check the vendor: %s', (exceptionType, isOfService) => {
    const events: SessionEvent[] = [
      { eventCode: 'BOT_FAILED', eventTs, detail: { status: 500, exceptionType, exceptionMessage: null, tail: '' } },
    ];
    const next = explainSessionEnd({ completionStatus: '500', events, botStartSeconds: 1 })?.next;
    expect([next?.includes('status page of its vendor'), next?.includes('fix the bot')]).toEqual([
      isOfService,
      !isOfService,
    ]);
  });

  it('says that the bot refused the session if the bot responded with status 403 before the session started', () => {
    const explanation = explainSessionEnd({ completionStatus: '403', events: [], botStartSeconds: null });
    expect(explanation?.cause).toContain('refused the session');
  });
});

describe('nameSessionEnd', () => {
  it.each<[string, boolean, string, SessionEvent[]]>([
    ['Out of memory', true, 'HTTP_ERROR', [exited({ signal: 'SIGKILL', outOfMemory: true })]],
    ['Out of disk space', true, 'HTTP_ERROR', [exited({ signal: 'SIGKILL', diskLimit })]],
    ['Crashed: SIGSEGV', true, 'HTTP_ERROR', [exited({ signal: 'SIGSEGV' })]],
    ['Exited with status 3', true, 'HTTP_ERROR', [exited({ code: 3 })]],
    ['Ended by the platform', true, 'HTTP_ERROR', [exited({ platformCause: 'Evicted.' })]],
    ['The bot did not start', true, 'HTTP_ERROR', [startFailed]],
    ['The bot did not start, crashed, or dropped its connection', true, 'HTTP_ERROR', []],
    ['Raised ValueError', true, '500', [raised]],
    ['The bot responded with HTTP status 500', true, '500', []],
    ['The bot responded with HTTP status 302', true, '302', []],
    ['Raised ValueError', true, '302', [raised]],
    ['Stopped by a request or a shutdown', false, 'SESSION_STOPPED', [exited({ signal: 'SIGTERM' })]],
    ['The bot finished', false, 'HTTP_COMPLETED', []],
  ])('returns the name "%s", and whether it is a failure: %s', (name, isFailure, completionStatus, events) => {
    expect(nameSessionEnd({ completionStatus, events })).toEqual({ name, isFailure });
  });

  it('returns null for an active session', () => {
    expect(nameSessionEnd({ completionStatus: null, events: [] })).toBeNull();
  });
});
