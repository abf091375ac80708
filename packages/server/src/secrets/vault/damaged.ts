/** Stored data is not what was written. The message is for the operator's log and contains nothing of a value. */
export class DamagedError extends Error {
  override readonly name = 'DamagedError';
}
