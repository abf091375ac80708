import { sanitizeRedirect } from './redirect.ts';

const storageName = 'bothost.openid';

/**
 * Stores the path that the page `/sign-in/openid` opens after sign-in, when the OpenID Connect provider sends the browser back.
 */
export function rememberRedirect(path: string): void {
  sessionStorage.setItem(storageName, path);
}

export function takeRedirect(): string {
  const path = sessionStorage.getItem(storageName);
  sessionStorage.removeItem(storageName);
  return sanitizeRedirect(path);
}
