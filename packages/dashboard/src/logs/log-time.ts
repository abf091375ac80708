import type { LogLine } from '@bothost/contract';

const clock = new Intl.DateTimeFormat('en', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
});
const full = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long' });

/** Formats a timestamp as the local time of day with milliseconds, such as `14:03:09.120`. */
export function formatTimeOfDay(timestamp: string): string {
  return clock.format(new Date(timestamp));
}

/** Formats a timestamp as local date and time with the time zone. */
export function formatDateTime(timestamp: string): string {
  return full.format(new Date(timestamp));
}

/** Converts a timestamp with nanoseconds to Unix time in seconds, truncated to microseconds. */
export function toUnixSeconds(timestamp: string): number {
  const [, whole = timestamp, fraction = ''] = /^(.*)\.(\d+)Z$/.exec(timestamp) ?? [];
  return Date.parse(fraction === '' ? timestamp : `${whole}Z`) / 1000 + Number(`0.${fraction.slice(0, 6)}`);
}

/** Returns when the service read a line, in Unix seconds. The order of lines and the time filters use this time. */
export function getReadTime({ readAt, timestamp }: Pick<LogLine, 'readAt' | 'timestamp'>): number {
  return toUnixSeconds(readAt ?? timestamp);
}
