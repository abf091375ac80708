import { failure } from '@bothost/contract';

/**
 * When credentials expire: the time in the request; otherwise the stored one, if the credentials did not change; otherwise after
 * the known lifetime of such credentials.
 *
 * @throws failure `invalid-request` if that time has passed
 */
export function expiryOf(
  request: { readonly expiresAt: Date | null; readonly lifeSeconds: number | null },
  before: Date | null,
  now: Date,
): Date | null {
  if (request.expiresAt === null) {
    return before ?? (request.lifeSeconds === null ? null : new Date(now.getTime() + request.lifeSeconds * 1000));
  }
  if (request.expiresAt > now) return request.expiresAt;
  const message = 'The credentials have already expired. Get new ones.';
  throw failure('invalid-request', { message, issues: [{ path: 'body.expiresAt', message }] });
}

export function isSameTime(one: Date | null, other: Date | null): boolean {
  return one?.getTime() === other?.getTime();
}

/** Tokens of Amazon ECR are valid for 12 hours, and their user is always AWS. */
const ecrSeconds = 12 * 3_600;

/** Lifetime of the credentials in seconds; null if it is not known for this registry and user. */
export function lifeOf(host: string, user: string): number | null {
  const isEcr = /(?:^|\.)amazonaws\.com(?:\.cn)?(?:[:/]|$)/.test(host) || /^public\.ecr\.aws(?:[:/]|$)/.test(host);
  return user === 'AWS' && isEcr ? ecrSeconds : null;
}
