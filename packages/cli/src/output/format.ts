import type { Cell } from './report.ts';

/** Keeps an ISO 8601 time unchanged in plain output and shortens it to seconds on a terminal. */
export function formatTime(iso: string | null): Cell {
  if (iso === null) return { text: '', rich: '-', tone: 'dim' };
  return { text: iso, rich: iso.replace('T', ' ').replace(/\.\d+Z$/, 'Z') };
}

export function formatOptionalCell(value: string | number | null | undefined): Cell {
  if (value === null || value === undefined || value === '') return { text: '', rich: '-', tone: 'dim' };
  return String(value);
}

/** Formats a duration as HH:MM:SS. The hours have more than two digits from 100 hours on. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const parts = [Math.floor(whole / 3_600), Math.floor((whole % 3_600) / 60), whole % 60];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}

/** Formats a duration in milliseconds, such as `4.3 ms`, `812 ms` or `9.9 s`. */
export function formatMilliseconds(value: number): string {
  if (value >= 10_000) return `${(value / 1000).toFixed(1)} s`;
  return `${value < 10 && !Number.isInteger(value) ? value.toFixed(1) : Math.round(value)} ms`;
}

export function secondsBetween(from: string, to: string | Date): number {
  return (new Date(to).getTime() - new Date(from).getTime()) / 1_000;
}

/** Formats a share of processor cores, such as `0.5 CPU`. */
export function formatCpu(millicores: number): string {
  return `${millicores / 1_000} CPU`;
}

/** Formats mebibytes with one decimal, and fewer than one mebibyte as bytes. */
export function formatMebibytes(bytes: number): string {
  return bytes < 1_048_576 ? `${bytes} B` : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

export function formatYesNo(value: boolean | null): string {
  if (value === null) return 'N/A';
  return value ? 'Yes' : 'No';
}
