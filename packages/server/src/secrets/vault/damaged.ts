/**
 * Thrown if stored data is not as the service wrote it. The message is for the operator's log and contains no secret.
 */
export class DamagedError extends Error {
  override readonly name = 'DamagedError';
}
