import { describe, expect, it } from 'vitest';
import {
  ApiError,
  apiErrorDefinitions,
  createApiError,
  createErrorBody,
  type ErrorReason,
  ErrorResponse,
} from './errors.ts';

const rows = Object.entries(apiErrorDefinitions).map(([reason, row]) => ({ reason: reason as ErrorReason, ...row }));

const isOAuthCode = ({ message }: { message: string }) => /^[a-z_]+$/.test(message);

/** Failures that clients of Pipecat Cloud know: the HTTP status, the code, and words in the message. */
const specified = [
  { status: 401, code: '401', words: /key/i },
  { status: 404, code: '404', words: /agent or session not found/i },
  { status: 404, code: '404', words: /endpoint not found/i },
  { status: 404, code: '404', words: /organization not found/i },
  { status: 500, code: '500', words: /log.*operator/i },
];

describe('the table `apiErrorDefinitions`', () => {
  it.each(specified)(
    'contains a failure with the status $status and a message that matches $words',
    ({ status, code, words }) => {
      expect(rows.filter((row) => row.status === status && row.code === code && words.test(row.message))).not.toEqual(
        [],
      );
    },
  );

  it.each(rows)('has the kebab-case reason $reason with an error status and a matching code', (row) => {
    expect(row.reason).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(row.status).toBeGreaterThanOrEqual(400);
    expect(row.status).toBeLessThan(600);
    if (row.code.startsWith('PCC-')) expect(row.code).toMatch(/^PCC-[A-Z0-9]+(-[A-Z0-9]+)*$/);
    else expect(row.code).toBe(String(row.status));
  });

  it('contains the error codes of OAuth 2.0 as messages (RFC 8628, section 3.5; RFC 6749, section 5.2)', () => {
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
    'gives the reason $reason a message that is a full sentence without square brackets',
    ({ message }) => {
      expect(message).toMatch(/^[A-Z][^[\]]*\."?$/);
    },
  );
});

describe('createErrorBody', () => {
  it.each(rows)('returns error, code, reason, request id and info for the reason $reason', (row) => {
    const body = createErrorBody(createApiError(row.reason), 'request-1');
    expect(ErrorResponse.parse(body)).toEqual(body);
    expect(body).toMatchObject({
      error: row.message,
      code: row.code,
      reason: row.reason,
      requestId: 'request-1',
      info: row.message,
    });
  });

  it('returns the field "issues" only if the error has issues', () => {
    const issues = [{ path: 'body.name', message: 'Too short.' }];
    expect(createErrorBody(createApiError('invalid-request', { issues }), 'r')).toMatchObject({ issues });
    expect(createErrorBody(createApiError('invalid-request'), 'r')).not.toHaveProperty('issues');
  });

  it('returns the fields message and status for status 429, because existing clients read them', () => {
    const { status, message } = apiErrorDefinitions['at-capacity'];
    expect(createErrorBody(createApiError('at-capacity'), 'r')).toMatchObject({ status, message });
    expect(createErrorBody(createApiError('not-found'), 'r')).not.toHaveProperty('message');
  });

  it('does not return the cause of the error', () => {
    const error = createApiError('internal', { cause: new Error('password=hunter2') });
    expect(JSON.stringify(createErrorBody(error, 'r'))).not.toContain('hunter2');
  });
});

it('createApiError() for the reason not-found returns an ApiError with status 404, code "404" and the given message', () => {
  const error = createApiError('not-found', { message: 'Agent "x" does not exist.' });
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 404, code: '404', reason: 'not-found', requestId: null, issues: [] });
  expect(error.message).toBe('Agent "x" does not exist.');
});
