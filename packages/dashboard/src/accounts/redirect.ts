/**
 * Returns `path` if it is a path of this site, otherwise `/`, so that a link cannot redirect a person to another site after
 * sign-in.
 */
export function sanitizeRedirect(path: unknown): string {
  if (typeof path !== 'string' || !path.startsWith('/')) return '/';
  const url = new URL(path, 'http://self.invalid');
  return url.origin === 'http://self.invalid' ? url.pathname + url.search + url.hash : '/';
}
