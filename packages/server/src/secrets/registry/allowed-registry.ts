import { isIP } from 'node:net';
import { isMetadataAddress, isPublicAddress } from '../../http-client/addresses.ts';
import { formatHostAndPort } from '../../http-client/allowed-hosts.ts';
import type { ImageRegistryConnectionOptions } from './check-credentials.ts';
import { createRegistryUrl } from './registry-policy.ts';

/**
 * Says why the service must not have an image pulled from a registry: it has a private address, and the operator has not listed
 * it. Otherwise, anybody who may deploy could make the service connect to its own network. Null if it may, or if its name cannot
 * be resolved here.
 */
export async function findRegistryRefusal(
  { policy, resolve }: Pick<ImageRegistryConnectionOptions, 'policy' | 'resolve'>,
  registry: string,
): Promise<string | null> {
  const url = createRegistryUrl(registry);
  const host = url.hostname;
  const addresses = isIP(host) === 0 ? await resolve(host).catch(() => []) : [host];
  const isListed = policy.listed.has(formatHostAndPort(url));
  const isAllowed = (address: string) =>
    isListed ? isIP(host) !== 0 || !isMetadataAddress(address) : isPublicAddress(address);
  if (addresses.every(isAllowed)) return null;
  return `The registry ${url.host} has a private address, which the operator has to allow with BOTHOST_REGISTRIES.`;
}
