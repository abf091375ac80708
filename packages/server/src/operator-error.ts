/** An error that says what the operator should do. Contains no secrets, because `main.ts` prints it. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
}
