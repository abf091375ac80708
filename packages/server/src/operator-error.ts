/**
 * An error that says why the service cannot start or continue, and what the operator should do. Its message contains no
 * secrets, because `main.ts` prints it.
 */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
}
