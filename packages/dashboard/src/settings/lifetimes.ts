/** Choices for the validity of a key or token, in days; an empty text means that it does not expire. */
export const credentialLifetimeOptions = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '1 year'],
  ['', 'No expiration'],
] as const;

/** Converts days to the field `expiresInSeconds` of a request. An empty text becomes null, which means no expiry. */
export function parseLifetimeSeconds(days: string): number | null {
  return days === '' ? null : Number(days) * 86_400;
}
