import { describe, expect, it } from 'vitest';
import { formatLogMessage } from './terminal-log.ts';

describe('the terminal log', () => {
  const request = { requestId: 'r-1', method: 'GET', path: '/v1/agents', ms: 3 };

  it('shows a request in one short line, with the request id if the request failed', () => {
    expect(formatLogMessage({ ...request, status: 200 }, 'request')).toBe('GET /v1/agents 200 in 3 ms');
    expect(formatLogMessage({ ...request, status: 404 }, 'request')).toBe(
      'GET /v1/agents 404 in 3 ms (request id r-1)',
    );
  });

  it('shows the status of an ended session', () => {
    const record = { sessionId: 's-1', status: 'WS_CONNECTION_CLOSED' };
    expect(formatLogMessage(record, 'session ended')).toBe('session ended WS_CONNECTION_CLOSED s-1');
  });
});
