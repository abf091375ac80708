/** Seconds between the attempts of a delivery, 24 hours in total. */
const delaysSeconds = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 29_845];

/** Returns when a delivery is sent again after a number of failed attempts. Null if it is given up. */
export function getNextAttemptAt(attempts: number, now: Date): Date | null {
  const seconds = delaysSeconds[attempts - 1];
  return seconds === undefined ? null : new Date(now.getTime() + seconds * 1000);
}
