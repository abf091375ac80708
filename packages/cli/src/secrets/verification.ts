import type { ImagePullSecretCheck, SecretSetListItem } from '@bothost/contract';
import { getStatusLabel, imagePullSecretCheckResultLabels } from '@bothost/contract/statuses';
import { formatTime } from '../output/format.ts';
import type { Cell } from '../output/report.ts';

const tones = { verified: 'good', rejected: 'bad', unreachable: 'warn', skipped: 'warn' } as const;

export function formatVerificationCell(check: Pick<ImagePullSecretCheck, 'result'> | null): Cell {
  if (check === null) return { text: '', rich: '-', tone: 'dim' };
  const { result } = check;
  return { text: result, rich: getStatusLabel(imagePullSecretCheckResultLabels, result), tone: tones[result] };
}

export function formatCredentialFields(
  { expiresAt, verification }: Pick<SecretSetListItem, 'expiresAt' | 'verification'>,
  now: Date,
): (readonly [string, Cell])[] {
  const check =
    verification === null
      ? []
      : ([
          ['Checked', formatTime(verification.checkedAt)],
          ['Result', verification.message],
        ] as const);
  return [
    ['Expires', formatExpiryCell(expiresAt, now)],
    ['Verification', formatVerificationCell(verification)],
    ...check,
  ];
}

const expirySoonMs = 24 * 3_600_000;

/** Formats the time at which credentials expire as a table cell. `iso` is null if that time is unknown. */
export function formatExpiryCell(iso: string | null, now: Date): Cell {
  if (iso === null) return formatTime(null);
  const leftMs = Date.parse(iso) - now.getTime();
  const shown = formatTime(iso);
  const { text, rich = text } = typeof shown === 'string' ? { text: shown } : shown;
  if (leftMs <= 0) return { text, rich: `${rich}, expired`, tone: 'bad' };
  return leftMs <= expirySoonMs ? { text, rich: `${rich}, soon`, tone: 'warn' } : shown;
}

/** Returns a warning if credentials have expired or expire soon, otherwise null. */
export function createExpiryWarning(name: string, iso: string | null, now: Date): string | null {
  if (iso === null) return null;
  const leftMs = Date.parse(iso) - now.getTime();
  if (leftMs > expirySoonMs) return null;
  const when = iso.replace(/\.\d+Z$/, 'Z');
  return leftMs <= 0
    ? `the credentials of ${name} expired at ${when}; set new ones`
    : `the credentials of ${name} expire at ${when}; set new ones before`;
}
