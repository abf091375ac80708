import { createApiError, type DeploySource } from '@bothost/contract';

/** The region of this server, and what its agents are deployed from. */
export type BuildRegion = { readonly region: string; readonly accepts: DeploySource };

/**
 * An archive must be sent to the server of its region, because that server unpacks and prepares it.
 *
 * @throws failure `region-unknown`, or `not-supported` if the region runs images
 */
export function requireBuildRegion(host: BuildRegion, region: string): void {
  if (region !== host.region) {
    throw createApiError('region-unknown', { message: `This server handles builds only for region ${host.region}.` });
  }
  if (host.accepts === 'build') return;
  const message = `Region ${region} runs images and builds no projects. Push an image to a registry, then run: botcli cloud deploy AGENT IMAGE`;
  throw createApiError('not-supported', { message });
}
