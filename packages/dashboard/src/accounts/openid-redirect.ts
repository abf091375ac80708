import { safeRedirect } from './redirect.ts';

const storageName = 'bothost.openid';

/** Keeps the page to return to, while the browser is at the OpenID Connect provider. */
export function rememberRedirect(path: string): void {
  sessionStorage.setItem(storageName, path);
}

export function takeRedirect(): string {
  const path = sessionStorage.getItem(storageName);
  sessionStorage.removeItem(storageName);
  return safeRedirect(path);
}
