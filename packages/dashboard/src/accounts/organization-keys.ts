const prefix = 'bothost.publicKey.';

/**
 * Returns the public key that this browser stores for conversations with an organization's agents. Undefined if there is none.
 */
export function readOrganizationApiKey(organizationId: string): string | undefined {
  return localStorage.getItem(prefix + organizationId) ?? undefined;
}

/** Stores the public key of an organization in this browser. If `key` is undefined, removes the stored key. */
export function storeOrganizationApiKey(organizationId: string, key: string | undefined): void {
  if (key === undefined) localStorage.removeItem(prefix + organizationId);
  else localStorage.setItem(prefix + organizationId, key);
}

/** Removes the stored public keys of all organizations from this browser. */
export function removeOrganizationApiKeys(): void {
  for (const name of Object.keys(localStorage)) {
    if (name.startsWith(prefix)) localStorage.removeItem(name);
  }
}
