type Credential = { readonly expiresAt: string | null; readonly revokedAt?: string | null };

export type CredentialStatus = 'active' | 'expired' | 'revoked';

/** Returns whether a key or personal token is active, expired or revoked at the time `now`. */
export function getCredentialStatus({ expiresAt, revokedAt = null }: Credential, now: Date): CredentialStatus {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && new Date(expiresAt) <= now ? 'expired' : 'active';
}
