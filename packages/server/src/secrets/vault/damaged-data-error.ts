/** Stored data was changed, is incomplete or does not decrypt. The message is for the log and contains no secret. */
export class DamagedDataError extends Error {
  override readonly name = 'DamagedDataError';
}
