/**
 * The service cannot start or continue. The message says why and what the operator can do, without secrets. `main.ts` prints
 * the message of this error, and the stack of any other.
 */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
}
