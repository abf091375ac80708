import { failure } from '@bothost/contract';

/** An archive must go to the server of its region, which unpacks and prepares it. @throws failure `region-unknown` */
export function requireRegion(host: { readonly region: string }, region: string): void {
  if (region === host.region) return;
  throw failure('region-unknown', { message: `This server builds only for the region ${host.region}.` });
}
