/**
 * Thrown if stored data is not as the service wrote it. The message is for the operator's log and contains no secret.
 */
export class DamagedDataError extends Error {
  override readonly name = 'DamagedDataError';
}
