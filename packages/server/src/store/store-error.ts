import { OperatorError } from '../operator-error.ts';

/** Why the database cannot be used, and what the operator can do. */
export class StoreError extends OperatorError {
  override readonly name = 'StoreError';
}
