import { type ApiError, createApiError } from '@bothost/contract';

/** The error for a cursor that was not created for this list. */
export function createCursorError(list = 'this list'): ApiError {
  return createApiError('invalid-request', {
    issues: [{ path: 'query.cursor', message: `The cursor does not belong to ${list}.` }],
  });
}
