import { type AllowedHosts, createAllowedHosts, formatHostAndPort } from '../../http-client/allowed-hosts.ts';

/** Without a rule, the service connects only to public addresses and with TLS. Registries are named as `host:port`. */
export type ImageRegistryConnectionPolicy = AllowedHosts & {
  /** Origins of token servers, by registry, which may receive its credentials although they run on another host. */
  readonly tokenOrigins: ReadonlyMap<string, ReadonlySet<string>>;
};

const knownTokenHosts: readonly (readonly [string, string])[] = [
  ['registry-1.docker.io', 'auth.docker.io'],
  ['registry.gitlab.com', 'gitlab.com'],
];

/** `tokenHosts` contains pairs of a registry and its token server. */
export function createImageRegistryConnectionPolicy(
  registries: readonly string[],
  tokenHosts: readonly (readonly [string, string])[],
): ImageRegistryConnectionPolicy {
  const tokenOrigins = new Map<string, Set<string>>();
  for (const [registry, tokenHost] of [...knownTokenHosts, ...tokenHosts]) {
    const at = formatHostAndPort(createRegistryUrl(registry));
    tokenOrigins.set(at, (tokenOrigins.get(at) ?? new Set<string>()).add(createRegistryUrl(tokenHost).origin));
  }
  return { ...createAllowedHosts(registries.map(createRegistryUrl)), tokenOrigins };
}

/** Returns the URL of a registry's API for its canonical name. The API of Docker Hub is on another host. */
export function createRegistryUrl(host: string): URL {
  if (host === 'https://index.docker.io/v1/') return new URL('https://registry-1.docker.io');
  return new URL(host.includes('://') ? host : `https://${host}`);
}
