import { sanitizeRedirect } from './redirect.ts';

const storageName = 'bothost.openid';

/** Stores the path of the page to open after sign-in with the OpenID Connect provider. */
export function rememberRedirect(path: string): void {
  sessionStorage.setItem(storageName, path);
}

export function consumeRememberedRedirect(): string {
  const path = sessionStorage.getItem(storageName);
  sessionStorage.removeItem(storageName);
  return sanitizeRedirect(path);
}
