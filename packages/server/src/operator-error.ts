/**
 * The service cannot start or go on, and the message tells the operator why and what to do, in sentences. `main.ts` prints it as
 * it is; of every other error it prints the stack. Never holds a secret.
 */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
}
