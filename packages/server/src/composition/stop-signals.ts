/** Under npm, one Ctrl-C arrives twice within this time: from the terminal and from npm. Milliseconds. */
const samePress = 500;

/**
 * The meaning of a signal, depending on the time of the previous one (milliseconds of any clock; null: it is the first):
 * shutdown with a grace period, end of the grace period, or nothing, because it is the same key press.
 */
export function readSignal(before: number | null, now: number): 'stop' | 'hurry' | 'same' {
  if (before === null) return 'stop';
  return now - before < samePress ? 'same' : 'hurry';
}
