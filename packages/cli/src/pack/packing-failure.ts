import { PackingError } from '@bothost/packing';
import { Failure } from '../failure.ts';

/** Converts a `PackingError` to a failure of the command. Returns other errors unchanged. */
export function convertPackingError(error: unknown): unknown {
  if (!(error instanceof PackingError)) return error;
  return new Failure(error.reason, error.message, error.hint, { issues: error.issues, cause: error });
}
