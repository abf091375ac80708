import type { LogLine } from '@bothost/contract';

/** Converts a timestamp with nanoseconds to Unix time in seconds, truncated to microseconds. */
export function toUnixSeconds(timestamp: string): number {
  const [, whole = timestamp, fraction = ''] = /^(.*)\.(\d+)Z$/.exec(timestamp) ?? [];
  return Date.parse(fraction === '' ? timestamp : `${whole}Z`) / 1000 + Number(`0.${fraction.slice(0, 6)}`);
}

/** Returns when the service read a line, in Unix seconds. The order of lines and the time filters use this time. */
export function getReadTime({ readAt, timestamp }: Pick<LogLine, 'readAt' | 'timestamp'>): number {
  return toUnixSeconds(readAt ?? timestamp);
}
