/** Parses a time reported by a bot and clamps it to the range from `earliest` to `now`. Returns `now` if none is reported. */
export function clampReportedTime(reported: string | null | undefined, earliest: Date | null, now: Date): Date {
  const time = reported == null ? now : new Date(reported);
  if (time > now) return now;
  return earliest !== null && time < earliest ? earliest : time;
}
