/** Why the service cannot start or continue, and what to do. Contains no secrets: `main.ts` prints its message. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
}
