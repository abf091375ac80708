import { describe, expect, it } from 'vitest';
import { ApiError, ErrorResponse, errorBody, failure, failures, type Reason } from './errors.ts';

const rows = Object.entries(failures).map(([reason, row]) => ({ reason: reason as Reason, ...row }));

/** Section 7 of the spec, as written there: status, code, and what the message has to say. */
const specified = [
  { status: 401, code: '401', says: /key/i },
  { status: 404, code: '404', says: /no such agent or session/i },
  { status: 404, code: '404', says: /no such endpoint/i },
  { status: 404, code: '404', says: /no such organization/i },
  { status: 500, code: '500', says: /log.*operator/i },
];

describe('the table of failures', () => {
  it.each(specified)('holds the row $status of the spec that says $says', ({ status, code, says }) => {
    expect(rows.filter((row) => row.status === status && row.code === code && says.test(row.message))).not.toEqual([]);
  });

  it.each(rows)('gives $reason a word for programs, a status of a failure and the code that belongs to it', (row) => {
    expect(row.reason).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(row.status).toBeGreaterThanOrEqual(400);
    expect(row.status).toBeLessThan(600);
    if (row.code.startsWith('PCC-')) expect(row.code).toMatch(/^PCC-[A-Z0-9]+(-[A-Z0-9]+)*$/);
    else expect(row.code).toBe(String(row.status));
  });

  it.each(rows)('tells $reason in a whole sentence without square brackets', ({ message }) => {
    expect(message).toMatch(/^[A-Z][^[\]]*[.>]$/);
  });
});

describe('the error object', () => {
  it.each(rows)('of $reason has error, code, reason, request id and info', (row) => {
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

  it('carries issues only where there are any', () => {
    const issues = [{ path: 'body.name', message: 'Too short.' }];
    expect(errorBody(failure('invalid-request', { issues }), 'r')).toMatchObject({ issues });
    expect(errorBody(failure('invalid-request'), 'r')).not.toHaveProperty('issues');
  });

  it('repeats message and status at the limit of sessions, where existing clients look for them', () => {
    const { status, message } = failures['at-capacity'];
    expect(errorBody(failure('at-capacity'), 'r')).toMatchObject({ status, message });
    expect(errorBody(failure('not-found'), 'r')).not.toHaveProperty('message');
  });

  it('holds nothing of the cause', () => {
    const error = failure('internal', { cause: new Error('password=hunter2') });
    expect(JSON.stringify(errorBody(error, 'r'))).not.toContain('hunter2');
  });
});

it('a failure is an ApiError with the row and, if given, a more exact message', () => {
  const error = failure('not-found', { message: 'There is no agent called “x”.' });
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 404, code: '404', reason: 'not-found', requestId: null, issues: [] });
  expect(error.message).toBe('There is no agent called “x”.');
});
