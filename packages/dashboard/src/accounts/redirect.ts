/** A path of this site to return to after sign-in. Anything else becomes `/`, so that a link cannot lead to another site. */
export function safeRedirect(path: unknown): string {
  if (typeof path !== 'string' || !path.startsWith('/')) return '/';
  const url = new URL(path, 'http://self.invalid');
  return url.origin === 'http://self.invalid' ? url.pathname + url.search + url.hash : '/';
}
