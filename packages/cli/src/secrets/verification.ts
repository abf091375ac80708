import type { PullSecretCheck, SecretSetListItem } from '@bothost/contract';
import { pullSecretResultLabels, statusLabel } from '@bothost/contract/statuses';
import { formatTime } from '../output/format.ts';
import type { Cell } from '../output/report.ts';

const tones = { verified: 'good', rejected: 'bad', unreachable: 'warn', skipped: 'warn' } as const;

/** The last check of an image pull secret, as lists show it. */
export function verificationCell(check: Pick<PullSecretCheck, 'result'> | null): Cell {
  if (check === null) return { text: '', rich: '-', tone: 'dim' };
  const { result } = check;
  return { text: result, rich: statusLabel(pullSecretResultLabels, result), tone: tones[result] };
}

/** What is known of an image pull secret beside its readiness. */
export function credentialFields(
  { expiresAt, verification }: Pick<SecretSetListItem, 'expiresAt' | 'verification'>,
  now: Date,
): (readonly [string, Cell])[] {
  const said =
    verification === null
      ? []
      : ([
          ['Checked', formatTime(verification.checkedAt)],
          ['Why', verification.message],
        ] as const);
  return [['Expires', expiryCell(expiresAt, now)], ['Registry says', verificationCell(verification)], ...said];
}

/** Credentials that end within this time are told about. */
const expirySoonMs = 24 * 3_600_000;

/** When credentials end: `iso` null is not known. */
export function expiryCell(iso: string | null, now: Date): Cell {
  if (iso === null) return formatTime(null);
  const left = Date.parse(iso) - now.getTime();
  const shown = formatTime(iso);
  const { text, rich = text } = typeof shown === 'string' ? { text: shown } : shown;
  if (left <= 0) return { text, rich: `${rich}, expired`, tone: 'bad' };
  return left <= expirySoonMs ? { text, rich: `${rich}, soon`, tone: 'warn' } : shown;
}

/** What to say of credentials that end soon or have ended; null of others. */
export function expiryWarning(name: string, iso: string | null, now: Date): string | null {
  if (iso === null) return null;
  const left = Date.parse(iso) - now.getTime();
  if (left > expirySoonMs) return null;
  const when = iso.replace(/\.\d+Z$/, 'Z');
  return left <= 0
    ? `the credentials of ${name} expired at ${when}: set new ones`
    : `the credentials of ${name} expire at ${when}: set new ones before`;
}
