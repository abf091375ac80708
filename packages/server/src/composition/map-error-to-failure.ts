import { ApiError, createApiError } from '@bothost/contract';
import { DamagedDataError } from '../secrets/vault/damaged-data-error.ts';
import { RootKeyMissingError } from '../secrets/vault/root-key.ts';
import { isDiskFullError, isTransientError } from '../store/connection-error.ts';

/** Maps any error to one of the documented failures. An unknown error becomes a 500, with details only in the log. */
export function mapErrorToFailure(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (isDiskFullError(error)) return createApiError('storage-full', { cause: error });
  if (isTransientError(error)) return createApiError('database-unavailable', { cause: error });
  if (error instanceof RootKeyMissingError) return createApiError('vault-unavailable', { cause: error });
  if (error instanceof DamagedDataError) return createApiError('secret-set-damaged', { cause: error });
  switch (statusCode(error)) {
    case 413:
      return createApiError('body-too-large', { cause: error });
    case 400:
      return createApiError('invalid-json', { cause: error });
    default:
      return createApiError('internal', { cause: error });
  }
}

function statusCode(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : null;
}
