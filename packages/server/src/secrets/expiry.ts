import { failure } from '@bothost/contract';

/**
 * When credentials end: as the request says; else as they did, while they are the same; else as is known of their kind.
 *
 * @throws failure `invalid-request` when that is over
 */
export function expiryOf(
  wanted: { readonly expiresAt: Date | null; readonly lifeSeconds: number | null },
  before: Date | null,
  now: Date,
): Date | null {
  if (wanted.expiresAt === null) {
    return before ?? (wanted.lifeSeconds === null ? null : new Date(now.getTime() + wanted.lifeSeconds * 1000));
  }
  if (wanted.expiresAt > now) return wanted.expiresAt;
  const message = 'The credentials have expired by then. Get new ones.';
  throw failure('invalid-request', { message, issues: [{ path: 'body.expiresAt', message }] });
}

export function isSameTime(one: Date | null, other: Date | null): boolean {
  return one?.getTime() === other?.getTime();
}

/** Tokens of Amazon ECR live for 12 hours; their user is always the same (ECR user guide, "Registry authentication"). */
const ecrSeconds = 12 * 3_600;

/** How long credentials of this registry and user live, where that is known. */
export function lifeOf(host: string, user: string): number | null {
  const isEcr = /(?:^|\.)amazonaws\.com(?:\.cn)?(?:[:/]|$)/.test(host) || /^public\.ecr\.aws(?:[:/]|$)/.test(host);
  return user === 'AWS' && isEcr ? ecrSeconds : null;
}
