/** Formats a Unix time in seconds as the value of a field for local date and time, such as `2026-11-23T14:03`. */
export function formatLocalTime(seconds: number): string {
  const at = new Date(seconds * 1_000);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Returns the Unix time in seconds of the value of such a field. Undefined while it is incomplete, and before 1970. */
export function parseLocalTime(text: string): number | undefined {
  const seconds = Date.parse(text) / 1_000;
  return seconds > 0 && text.length === 16 ? seconds : undefined;
}
