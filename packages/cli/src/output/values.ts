import type { Cell } from './report.ts';

/** A time of the service (ISO 8601): whole in plain text, to the second on a terminal. */
export function time(iso: string | null): Cell {
  if (iso === null) return { text: '', rich: '-', tone: 'dim' };
  return { text: iso, rich: iso.replace('T', ' ').replace(/\.\d+Z$/, 'Z') };
}

/** A text that may be missing. */
export function maybe(value: string | number | null | undefined): Cell {
  if (value === null || value === undefined || value === '') return { text: '', rich: '-', tone: 'dim' };
  return String(value);
}

/** HH:MM:SS; more than 99 hours make more digits. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const parts = [Math.floor(whole / 3_600), Math.floor((whole % 3_600) / 60), whole % 60];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}

/** Seconds between two ISO times. */
export function secondsBetween(from: string, to: string | Date): number {
  return (new Date(to).getTime() - new Date(from).getTime()) / 1_000;
}

export function millicores(value: number): string {
  return `${value} m`;
}

/** Bytes as mebibytes with one decimal; whole bytes below one. */
export function mebibytes(bytes: number): string {
  return bytes < 1_048_576 ? `${bytes} B` : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

/** Bytes in the largest unit that they fill, with one decimal. */
export function byteSize(bytes: number): string {
  if (bytes < 1_024) return `${Math.round(bytes)} B`;
  if (bytes < 1_048_576) return `${(bytes / 1_024).toFixed(1)} KiB`;
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

/** A count with its noun. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

export function yesNo(value: boolean | null): string {
  if (value === null) return 'N/A';
  return value ? 'Yes' : 'No';
}

/** The nearest-rank percentile, as the service computes them; null of nothing. */
export function percentile(values: readonly number[], rank: number): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((rank / 100) * sorted.length) - 1)] ?? null;
}
