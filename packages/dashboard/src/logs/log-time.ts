import type { LogLine } from '@bothost/contract';
import { formatDay, formatTimeOfDay } from '../components/format.ts';

/** Converts a timestamp with nanoseconds to Unix time in seconds, truncated to microseconds. */
export function toUnixSeconds(timestamp: string): number {
  const [, whole = timestamp, fraction = ''] = /^(.*)\.(\d+)Z$/.exec(timestamp) ?? [];
  return Date.parse(fraction === '' ? timestamp : `${whole}Z`) / 1000 + Number(`0.${fraction.slice(0, 6)}`);
}

/** Returns when the service read a line, in Unix seconds. The order of lines and the time filters use this time. */
export function getReadTime({ readAt, timestamp }: Pick<LogLine, 'readAt' | 'timestamp'>): number {
  return toUnixSeconds(readAt ?? timestamp);
}

/** Describes a range of Unix times in seconds, with the day of its end only if the range ends on another day. */
export function describeRange(from: number | undefined, to: number | undefined): string | null {
  if (from === undefined && to === undefined) return null;
  const [start, end] = [from, to].map((seconds) => (seconds === undefined ? null : new Date(seconds * 1_000)));
  const describe = (at: Date) => `${formatDay(at)} ${formatTimeOfDay(at)}`;
  const isOneDay = start?.toDateString() === end?.toDateString();
  const [first, last] = [start ? describe(start) : '', end ? (isOneDay ? formatTimeOfDay(end) : describe(end)) : ''];
  return `${first} – ${last}`.trim();
}
