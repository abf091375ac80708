import type { PinnedSecretSet } from '@bothost/contract';

/** Formats a secret set with the revision that is used, and with the newest revision if that is later. */
export function formatSecretSetState({ secretSet, revision, newestRevision, stale }: PinnedSecretSet): string {
  const state = `${secretSet}, revision ${revision}`;
  if (!stale) return state;
  return newestRevision === null ? `${state} (stale: deleted)` : `${state} (stale: ${newestRevision} is newest)`;
}
