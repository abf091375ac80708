const storageName = 'bothost.link';

/**
 * Returns the token of a one-time link from the fragment of the page's URL, or null if there is none. Removes the token from the
 * address bar, and keeps it in this tab's session storage, so that the page still has the token when the person returns from the
 * sign-in page.
 */
export function readLinkToken(path: string): string | null {
  const fragment = location.hash.slice(1);
  const name = `${storageName}${path}`;
  if (fragment !== '') {
    sessionStorage.setItem(name, fragment);
    history.replaceState(history.state, '', location.pathname + location.search);
  }
  return sessionStorage.getItem(name);
}

export function forgetLinkToken(path: string): void {
  sessionStorage.removeItem(`${storageName}${path}`);
}
