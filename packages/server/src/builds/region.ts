import { createApiError } from '@bothost/contract';

/**
 * An archive must be sent to the server of its region, because that server unpacks and prepares it.
 *
 * @throws failure `region-unknown`
 */
export function requireRegion(host: { readonly region: string }, region: string): void {
  if (region === host.region) return;
  throw createApiError('region-unknown', { message: `This server handles builds only for region ${host.region}.` });
}
