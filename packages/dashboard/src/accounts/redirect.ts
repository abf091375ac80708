/** Returns `path` or, if it is on another site, `/`, so that a link cannot redirect a person there after sign-in. */
export function sanitizeRedirect(path: unknown): string {
  if (typeof path !== 'string' || !path.startsWith('/')) return '/';
  const url = new URL(path, 'http://self.invalid');
  return url.origin === 'http://self.invalid' ? url.pathname + url.search + url.hash : '/';
}
