import { createFieldError } from '@bothost/contract';

/**
 * Returns when credentials expire. Uses the first known of these times: the time in the request, the stored time `before` (null
 * if the credentials changed), and the end of the usual lifetime of such credentials. Returns null if none is known.
 *
 * @throws failure `invalid-request` if the time in the request has passed
 */
export function resolveCredentialExpiry(
  request: { readonly expiresAt: Date | null; readonly lifetimeSeconds: number | null },
  before: Date | null,
  now: Date,
): Date | null {
  if (request.expiresAt === null) {
    return (
      before ?? (request.lifetimeSeconds === null ? null : new Date(now.getTime() + request.lifetimeSeconds * 1000))
    );
  }
  if (request.expiresAt > now) return request.expiresAt;
  throw createFieldError('body.expiresAt', 'The credentials have already expired. Get new ones.');
}

export function isSameTime(one: Date | null, other: Date | null): boolean {
  return one?.getTime() === other?.getTime();
}

/** Lifetime of Amazon ECR tokens in seconds. Their user name is always `AWS`. */
const ecrSeconds = 12 * 3_600;

/** Returns null if the lifetime of the credentials is not known for this registry and user. */
export function getCredentialLifetimeSeconds(host: string, user: string): number | null {
  const isEcr = /(?:^|\.)amazonaws\.com(?:\.cn)?(?:[:/]|$)/.test(host) || /^public\.ecr\.aws(?:[:/]|$)/.test(host);
  return user === 'AWS' && isEcr ? ecrSeconds : null;
}
