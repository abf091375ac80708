/** Shortens a digest to the first 12 digits, like Docker. */
export function formatDigest(digest: string): string {
  return digest.slice(0, digest.indexOf(':') + 13);
}
