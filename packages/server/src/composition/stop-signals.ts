/**
 * Two signals within this number of milliseconds count as one: under npm, one Ctrl-C causes a signal from the terminal
 * and another one from npm.
 */
const samePress = 500;

/**
 * Decides what a signal does: `stop` starts the shutdown, `hurry` ends the grace period, and `same` ignores a signal
 * from the same key press. `before` is the time of the previous signal in milliseconds; null for the first signal.
 */
export function interpretStopSignal(before: number | null, now: number): 'stop' | 'hurry' | 'same' {
  if (before === null) return 'stop';
  return now - before < samePress ? 'same' : 'hurry';
}
