/**
 * Thrown if stored data was changed, is incomplete or does not decrypt. The message is for the operator's log and contains no
 * secret.
 */
export class DamagedDataError extends Error {
  override readonly name = 'DamagedDataError';
}
