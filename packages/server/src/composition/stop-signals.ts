/** One press of Ctrl-C comes twice under npm: from the terminal, and passed on by npm (milliseconds). */
const samePress = 500;

/**
 * What a signal asks for, by when the one before it came (milliseconds of any clock; null: it is the first): a stop with
 * its grace, the end of the grace, or nothing, because it is the same press of a key.
 */
export function readSignal(before: number | null, now: number): 'stop' | 'hurry' | 'same' {
  if (before === null) return 'stop';
  return now - before < samePress ? 'same' : 'hurry';
}
