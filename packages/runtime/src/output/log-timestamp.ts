import type { EpochMicroseconds } from '../runtime.ts';

/** Parses a time such as `2026-01-31T10:20:30.123456789Z` to microseconds. */
export function parseLogTimestamp(text: string): EpochMicroseconds {
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? '';
  return Date.parse(`${text.slice(0, 19)}Z`) * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}
