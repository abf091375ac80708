/** Two signals within these milliseconds count as one: npm adds one to the signal of the terminal's Ctrl-C. */
const samePress = 500;

/**
 * Decides what a signal does: `stop` starts the shutdown, `hurry` ends the grace period, and `same` ignores a signal
 * from the same key press. `before` is the time of the previous signal in milliseconds; null for the first signal.
 */
export function interpretStopSignal(before: number | null, now: number): 'stop' | 'hurry' | 'same' {
  if (before === null) return 'stop';
  return now - before < samePress ? 'same' : 'hurry';
}
