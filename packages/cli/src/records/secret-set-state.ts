import type { PinnedSecretSet } from '@bothost/contract';

/** A secret set with its revision, and whether that is the newest. */
export function secretSetState({ secretSet, revision, newestRevision, stale }: PinnedSecretSet): string {
  const state = `${secretSet}, revision ${revision}`;
  if (!stale) return state;
  return newestRevision === null ? `${state} (stale: deleted)` : `${state} (stale: ${newestRevision} is newest)`;
}
