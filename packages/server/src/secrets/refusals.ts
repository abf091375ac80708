import { failure, secretSetSize } from '@bothost/contract';
import type { Entry } from './change.ts';
import type { SecretSetRow, ValueRow } from './rows.ts';

/** @throws failure `region-unknown` */
export function requireKnown(region: string, known: readonly string[]): void {
  if (!known.includes(region)) throw failure('region-unknown');
}

/** @throws failure `region-unknown`, `secret-set-region` */
export function requireRegion(set: Pick<SecretSetRow, 'region'>, region: string, known: readonly string[]): void {
  if (region === set.region) return;
  requireKnown(region, known);
  const message = `The secret set is in the region ${set.region}, which cannot change to ${region}.`;
  throw failure('secret-set-region', { message, issues: [{ path: 'body.region', message }] });
}

/** Revision 0 means that the set does not exist. @throws failure `secret-set-changed` */
export function requireRevision(set: Pick<SecretSetRow, 'revision'>, expected: number | null): void {
  if (expected === null || expected === set.revision) return;
  const is = set.revision === 0 ? 'The secret set does not exist' : `The secret set is at revision ${set.revision}`;
  throw failure('secret-set-changed', {
    message: `${is}, and ${expected} was expected. Read it again before you change it.`,
  });
}

/** @throws failure `secret-set-too-large` with the limit and the size that the set would have */
export function requireSize(
  entries: readonly Entry[],
  rows: ReadonlyMap<string, ValueRow>,
  values: ReadonlyMap<string, Buffer>,
): void {
  if (entries.length > secretSetSize.keys) {
    throw tooLarge(`The secret set would have ${entries.length} keys; the limit is ${secretSetSize.keys}.`);
  }
  const sizes = entries.map(([key]) => Buffer.byteLength(key) + (values.get(key)?.length ?? rows.get(key)?.bytes ?? 0));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (bytes > secretSetSize.bytes) {
    throw tooLarge(`The secret set would have ${bytes} bytes; the limit is ${secretSetSize.bytes}.`);
  }
}

function tooLarge(message: string) {
  return failure('secret-set-too-large', { message });
}
