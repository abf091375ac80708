import { OperatorError } from '../operator-error.ts';

/** Why the database cannot be used, and what to do about it. */
export class StoreError extends OperatorError {
  override readonly name = 'StoreError';
}
