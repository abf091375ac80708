/**
 * The service cannot start or continue. The message says why and what the operator can do, and contains no secrets.
 * `main.ts` prints only this message; for other errors it prints the stack.
 */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
}
