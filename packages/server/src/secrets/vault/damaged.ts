/** What is stored is not what was written. The message names the place, for the operator's log, and nothing of the content. */
export class DamagedError extends Error {
  override readonly name = 'DamagedError';
}
