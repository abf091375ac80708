import { createApiError, createFieldError, secretSetLimits } from '@bothost/contract';
import type { SecretSetKeyRevision } from './change.ts';
import type { SecretSetRow, ValueRow } from './rows.ts';

/** Rejects an unknown region. @throws failure `region-unknown` */
export function requireKnownRegion(region: string, known: readonly string[]): void {
  if (!known.includes(region)) throw createApiError('region-unknown');
}

/** Rejects a request that would change the region of a set. @throws failure `region-unknown`, `secret-set-region` */
export function requireUnchangedRegion(
  set: Pick<SecretSetRow, 'region'>,
  region: string,
  known: readonly string[],
): void {
  if (region === set.region) return;
  requireKnownRegion(region, known);
  const message = `The secret set is in the region ${set.region}, which cannot change to ${region}.`;
  throw createFieldError('body.region', message, 'secret-set-region');
}

/**
 * Rejects a write if the set is not at the revision `expected`. 0 means that the set must not exist; null means that
 * any revision is accepted.
 *
 * @throws failure `secret-set-changed`
 */
export function requireExpectedRevision(set: Pick<SecretSetRow, 'revision'>, expected: number | null): void {
  if (expected === null || expected === set.revision) return;
  throw createApiError('secret-set-changed', { message: describeRevisions(set.revision, expected) });
}

function describeRevisions(revision: number, expected: number): string {
  if (expected === 0)
    return `The secret set exists already, at revision ${revision}. Choose another name, or change that set.`;
  return revision === 0
    ? `The secret set does not exist, but revision ${expected} was expected.`
    : `The secret set is at revision ${revision}, but revision ${expected} was expected. Read the set again before you change it.`;
}

/**
 * Rejects a set that would be too large.
 *
 * @throws failure `secret-set-too-large` with the limit and the size that the set would have
 */
export function requireSecretSetWithinLimits(
  entries: readonly SecretSetKeyRevision[],
  rows: ReadonlyMap<string, ValueRow>,
  values: ReadonlyMap<string, Buffer>,
): void {
  if (entries.length > secretSetLimits.keys) {
    throw tooLarge(`The secret set would have ${entries.length} keys; the limit is ${secretSetLimits.keys}.`);
  }
  const sizes = entries.map(([key]) => Buffer.byteLength(key) + (values.get(key)?.length ?? rows.get(key)?.bytes ?? 0));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (bytes > secretSetLimits.bytes) {
    throw tooLarge(`The secret set would have ${bytes} bytes; the limit is ${secretSetLimits.bytes}.`);
  }
}

function tooLarge(message: string) {
  return createApiError('secret-set-too-large', { message });
}
