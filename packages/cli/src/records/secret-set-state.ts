import type { PinnedSecretSet } from '@bothost/contract';

/** Formats a secret set with the revision in use and, if a newer revision exists, with the newest revision. */
export function formatSecretSetState({ secretSet, revision, newestRevision, stale }: PinnedSecretSet): string {
  const state = `${secretSet}, revision ${revision}`;
  if (!stale) return state;
  return newestRevision === null ? `${state} (stale: deleted)` : `${state} (stale: ${newestRevision} is newest)`;
}
