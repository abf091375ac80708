import { OperatorError } from '../operator-error.ts';

/** Thrown if the database cannot be used. The message says why, and what the operator can do. */
export class StoreError extends OperatorError {
  override readonly name = 'StoreError';
}
