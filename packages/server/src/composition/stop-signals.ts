/** Two signals within this time count as one: under npm, Ctrl-C arrives from the terminal and from npm. */
const samePress = 500;

/**
 * Decides what a signal does: `stop` starts the shutdown, `hurry` ends the grace period, and `same` ignores a signal
 * from the same key press. `before` is the time of the previous signal in milliseconds; null for the first signal.
 */
export function readSignal(before: number | null, now: number): 'stop' | 'hurry' | 'same' {
  if (before === null) return 'stop';
  return now - before < samePress ? 'same' : 'hurry';
}
