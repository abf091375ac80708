const units = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const timeOfDay = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
const clock = new Intl.DateTimeFormat('en', timeOfDay);
const preciseClock = new Intl.DateTimeFormat('en', { ...timeOfDay, fractionalSecondDigits: 3 });
const minutes = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const day = new Intl.DateTimeFormat('en', { month: 'short', day: '2-digit' });
const dateWithTime = new Intl.DateTimeFormat('en', {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const date = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });
const dateTime = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long' });

/**
 * Describes a time relative to `now`, such as `3 hours ago` or `in 2 days`. After a day, returns the local date and time,
 * such as `Nov 23, 14:03`, and after 300 days only the date.
 */
export function formatRelativeTime(at: Date, now: Date): string {
  const seconds = Math.round((at.getTime() - now.getTime()) / 1000);
  if (seconds <= -300 * 86_400) return date.format(at);
  if (seconds <= -86_400) return dateWithTime.format(at);
  const unit = units.find(([, length]) => Math.abs(seconds) >= length);
  if (unit === undefined) return seconds > 0 ? 'in less than a minute' : 'just now';
  return relative.format(Math.trunc(seconds / unit[1]), unit[0]);
}

/**
 * Formats the time from a first to a last event, such as `09:12 to 09:51`. Contains the dates unless both are today, and a single
 * time if both are in the same minute.
 */
export function formatTimeRange(from: Date, to: Date, now: Date): string {
  const [begin, end] = [dateWithTime.format(from), dateWithTime.format(to)];
  const isOneDay = from.toDateString() === to.toDateString();
  const first = isOneDay && from.toDateString() === now.toDateString() ? minutes.format(from) : begin;
  if (begin === end) return first;
  return `${first} to ${isOneDay ? minutes.format(to) : end}`;
}

/** Formats a time as the local time of day, such as `14:03:09`. */
export function formatTimeOfDay(at: Date): string {
  return clock.format(at);
}

/** Formats a time as the local time of day with milliseconds, such as `14:03:09.120`. */
export function formatPreciseTimeOfDay(at: Date): string {
  return preciseClock.format(at);
}

/** Formats a time as the local date without the year, such as `Nov 23`. */
export function formatDay(at: Date): string {
  return day.format(at);
}

export function formatDateTime(at: Date): string {
  return dateTime.format(at);
}

/** Formats a short duration in milliseconds, such as `340 ms` or `1.2 s`. */
export function formatLatency(durationMs: number): string {
  return durationMs < 1000 ? `${Math.round(durationMs)} ms` : `${(durationMs / 1000).toFixed(1)} s`;
}

/** Formats a duration in milliseconds, such as `412 ms`, `9 s`, `4 min 5 s` or `2 h 10 min`. */
export function formatDuration(durationMs: number): string {
  const seconds = Math.floor(durationMs / 1000);
  if (seconds < 1) return `${Math.round(durationMs)} ms`;
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}

/** Formats the time in milliseconds that a clock has run, such as `1:05`. */
export function formatElapsedTime(durationMs: number): string {
  const seconds = Math.max(0, Math.floor(durationMs / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
