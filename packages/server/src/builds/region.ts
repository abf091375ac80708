import { failure } from '@bothost/contract';

/** An archive goes to the server that runs the region, since it is unpacked and prepared there. @throws failure `region-unknown` */
export function requireRegion(host: { readonly region: string }, region: string): void {
  if (region === host.region) return;
  throw failure('region-unknown', { message: `This server only builds for the region ${host.region}.` });
}
