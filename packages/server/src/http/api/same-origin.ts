import type { IncomingMessage } from 'node:http';
import { createApiError } from '@bothost/contract';

/**
 * Refuses a request that a page of another origin made (CSRF). Browsers set `Sec-Fetch-Site` and `Origin`, which pages cannot
 * change; old browsers send only `Origin`. A request with neither header does not come from a browser, so it has no cookies that
 * a page could abuse. Such a request is refused only if `isRequired` is true.
 *
 * @throws failure `cross-site-request`
 */
export function requireSameOrigin(
  { headers }: Pick<IncomingMessage, 'headers'>,
  { serviceUrl }: { readonly serviceUrl: string },
  isRequired: boolean,
): void {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (site !== undefined) {
    if (site !== 'same-origin') throw createApiError('cross-site-request');
  } else if (origin !== undefined) {
    const isOwn = URL.canParse(origin) && (new URL(origin).host === host || origin === serviceUrl);
    if (!isOwn) throw createApiError('cross-site-request');
  } else if (isRequired) throw createApiError('cross-site-request');
}
