/** What is stored is not what was written. The message names the place, for the operator's log, and nothing of the content. */
export class DamagedError extends Error {
  override readonly name = 'DamagedError';
}

/** What is so much another thing that it cannot be read is damaged, too. */
export function isDamage(error: unknown): boolean {
  return error instanceof DamagedError || error instanceof TypeError || error instanceof RangeError;
}
