import { ApiError, failure } from '@bothost/contract';
import { DamagedError } from '../secrets/vault/damaged.ts';
import { RootKeyMissing } from '../secrets/vault/root-key.ts';
import { isDiskFullError, isTransientError } from '../store/connection-error.ts';

/**
 * Any error as a row of the table of failures (invariant 8): the one place where an error becomes an answer. What is none
 * of them becomes a 500 that shows nothing of it; the log has it, with the request's id.
 */
export function failureOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (isDiskFullError(error)) return failure('storage-full', { cause: error });
  if (isTransientError(error)) return failure('database-unavailable', { cause: error });
  if (error instanceof RootKeyMissing) return failure('vault-unavailable', { cause: error });
  if (error instanceof DamagedError) return failure('secret-set-damaged', { cause: error });
  switch (statusCode(error)) {
    case 413:
      return failure('body-too-large');
    case 400:
      return failure('invalid-json');
    default:
      return failure('internal', { cause: error });
  }
}

/** The framework's own errors carry the status that they mean. */
function statusCode(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : null;
}
