import { type ApiError, createApiError } from '@bothost/contract';

export function createCursorError(list = 'this list'): ApiError {
  return createApiError('invalid-request', {
    issues: [{ path: 'query.cursor', message: `The cursor does not belong to ${list}.` }],
  });
}
