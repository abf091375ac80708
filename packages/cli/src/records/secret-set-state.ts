import type { PinnedSecretSet } from '@bothost/contract';

/** A secret set that something runs with, and how old that is, in words. */
export function secretSetState({ secretSet, revision, newestRevision, stale }: PinnedSecretSet): string {
  const state = `${secretSet}, revision ${revision}`;
  if (!stale) return state;
  return newestRevision === null ? `${state} (stale: deleted)` : `${state} (stale: ${newestRevision} is newest)`;
}
