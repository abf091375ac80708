import { safeRedirect } from './redirect.ts';

const storageName = 'bothost.openid';

/** Stores the path to which `/sign-in/openid` returns after sign-in, while the browser is at the OpenID Connect provider. */
export function rememberRedirect(path: string): void {
  sessionStorage.setItem(storageName, path);
}

export function takeRedirect(): string {
  const path = sessionStorage.getItem(storageName);
  sessionStorage.removeItem(storageName);
  return safeRedirect(path);
}
