/** Stored data differs from what was written. The message is for the operator's log and contains no secret. */
export class DamagedError extends Error {
  override readonly name = 'DamagedError';
}
