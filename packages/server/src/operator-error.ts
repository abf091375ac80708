/**
 * The service cannot start or continue. The message tells the operator why and what to do, without secrets. `main.ts` prints
 * the message; of other errors it prints the stack.
 */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
}
