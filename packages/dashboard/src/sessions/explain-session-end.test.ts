import type { SessionEvent } from '@bothost/contract';
import { describe, expect, it } from 'vitest';
import { explainSessionEnd } from './explain-session-end.ts';

const event = (eventCode: string, detail: SessionEvent['detail']): SessionEvent => ({
  eventCode,
  eventTs: '2026-11-23T12:00:00.000Z',
  detail,
});
const exited = (detail: object) => [
  event('INSTANCE_EXITED', { code: null, signal: null, outOfMemory: false, diskLimit: false, ...detail }),
];

describe('explainSessionEnd', () => {
  it.each([null, 'HTTP_COMPLETED', 'WS_CONNECTION_CLOSED', 'SESSION_STOPPED', '200', 'CALLER_HUNG_UP'])(
    'returns null for the completion status %s',
    (completionStatus) => {
      expect(explainSessionEnd({ completionStatus, events: [], botStartSeconds: 0 })).toBeNull();
    },
  );

  it.each<[string, string, SessionEvent[], string]>([
    ['the time limit', 'SESSION_TIME_LIMIT', [], 'time limit'],
    ['no client', 'BOT_CONNECTION_TIMEOUT', [], 'within 5 minutes'],
    ['no ready bot', 'BOT_START_TIMEOUT', [], 'No bot became ready'],
    ['a refused WebSocket', 'HTTP_ERROR', [event('SOCKET_REFUSED', { status: 404, phrase: 'x' })], 'HTTP status 404'],
    ['a failed start', 'HTTP_ERROR', [event('INSTANCE_START_FAILED', { cause: 'bad import' })], 'start: bad import.'],
    ['an exit status', 'HTTP_ERROR', exited({ code: 3 }), 'exited with status 3'],
    ['a signal', 'HTTP_ERROR', exited({ signal: 'SIGSEGV' }), 'signal SIGSEGV'],
    ['a lack of memory', 'HTTP_ERROR', exited({ signal: 'SIGKILL', outOfMemory: true }), 'more memory'],
    ['a full disk', 'HTTP_ERROR', exited({ signal: 'SIGKILL', diskLimit: true }), 'more disk space'],
    ['an unknown exit', 'HTTP_ERROR', exited({}), 'exit status is unknown'],
    ['a dropped connection', 'HTTP_ERROR', [], 'dropped its connection'],
    ['an error response', '500', [], 'failed: it responded with HTTP status 500'],
  ])('names the cause of a failed session: %s', (_, completionStatus, events, cause) => {
    expect(explainSessionEnd({ completionStatus, events, botStartSeconds: 1 })?.cause).toContain(cause);
  });

  it('says that the bot refused the session if the bot responded with status 403 before the session started', () => {
    const refused = explainSessionEnd({ completionStatus: '403', events: [], botStartSeconds: null });
    expect(refused?.cause).toContain('refused the session');
  });
});
