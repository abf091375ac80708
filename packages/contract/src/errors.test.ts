import { describe, expect, it } from 'vitest';
import { ApiError, ErrorResponse, errorBody, failure, failures, type Reason } from './errors.ts';

const rows = Object.entries(failures).map(([reason, row]) => ({ reason: reason as Reason, ...row }));

const isOAuthCode = ({ message }: { message: string }) => /^[a-z_]+$/.test(message);

/** Failures that existing clients know from the hosted service: status, code, and words of the message. */
const specified = [
  { status: 401, code: '401', words: /key/i },
  { status: 404, code: '404', words: /agent or session not found/i },
  { status: 404, code: '404', words: /endpoint not found/i },
  { status: 404, code: '404', words: /organization not found/i },
  { status: 500, code: '500', words: /log.*operator/i },
];

describe('failures', () => {
  it.each(specified)('contain a failure $status whose message matches $words', ({ status, code, words }) => {
    expect(rows.filter((row) => row.status === status && row.code === code && words.test(row.message))).not.toEqual([]);
  });

  it.each(rows)('$reason has a kebab-case reason, an error status and a matching code', (row) => {
    expect(row.reason).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(row.status).toBeGreaterThanOrEqual(400);
    expect(row.status).toBeLessThan(600);
    if (row.code.startsWith('PCC-')) expect(row.code).toMatch(/^PCC-[A-Z0-9]+(-[A-Z0-9]+)*$/);
    else expect(row.code).toBe(String(row.status));
  });

  it('contains the error codes of OAuth 2.0, which clients read from the message (RFC 8628, 3.5; RFC 6749, 5.2)', () => {
    expect(rows.filter(isOAuthCode).map(({ message }) => message)).toEqual([
      'authorization_pending',
      'slow_down',
      'expired_token',
      'access_denied',
      'invalid_grant',
      'invalid_grant',
    ]);
  });

  it.each(rows.filter((row) => !isOAuthCode(row)))(
    '$reason has a full sentence without square brackets as its message',
    ({ message }) => {
      expect(message).toMatch(/^[A-Z][^[\]]*\."?$/);
    },
  );
});

describe('errorBody', () => {
  it.each(rows)('contains error, code, reason, request id and info for $reason', (row) => {
    const body = errorBody(failure(row.reason), 'request-1');
    expect(ErrorResponse.parse(body)).toEqual(body);
    expect(body).toMatchObject({
      error: row.message,
      code: row.code,
      reason: row.reason,
      requestId: 'request-1',
      info: row.message,
    });
  });

  it('contains issues only if there are any', () => {
    const issues = [{ path: 'body.name', message: 'Too short.' }];
    expect(errorBody(failure('invalid-request', { issues }), 'r')).toMatchObject({ issues });
    expect(errorBody(failure('invalid-request'), 'r')).not.toHaveProperty('issues');
  });

  it('adds the fields message and status to a 429, because existing clients read them', () => {
    const { status, message } = failures['at-capacity'];
    expect(errorBody(failure('at-capacity'), 'r')).toMatchObject({ status, message });
    expect(errorBody(failure('not-found'), 'r')).not.toHaveProperty('message');
  });

  it('does not reveal the cause', () => {
    const error = failure('internal', { cause: new Error('password=hunter2') });
    expect(JSON.stringify(errorBody(error, 'r'))).not.toContain('hunter2');
  });
});

it('failure returns an ApiError with the row and the given message', () => {
  const error = failure('not-found', { message: 'Agent "x" does not exist.' });
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 404, code: '404', reason: 'not-found', requestId: null, issues: [] });
  expect(error.message).toBe('Agent "x" does not exist.');
});
