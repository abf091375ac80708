/** Which registries the service may ask, beyond those on public addresses with TLS. Hosts are `host:port`, always with a port. */
export type RegistryPolicy = {
  /** May have private addresses. */
  readonly listed: ReadonlySet<string>;
  /** May be asked without TLS. */
  readonly plain: ReadonlySet<string>;
  /** Token servers of a registry on other origins, which may get its credentials. */
  readonly tokenOrigins: ReadonlyMap<string, ReadonlySet<string>>;
};

/** Docker Hub and GitLab.com have token servers on other hosts. */
const knownTokenHosts: readonly (readonly [string, string])[] = [
  ['registry-1.docker.io', 'auth.docker.io'],
  ['registry.gitlab.com', 'gitlab.com'],
];

/** Takes canonical names of registries, and pairs of a registry and its token server. */
export function createRegistryPolicy(
  registries: readonly string[],
  tokenHosts: readonly (readonly [string, string])[],
): RegistryPolicy {
  const tokenOrigins = new Map<string, Set<string>>();
  for (const [registry, tokenHost] of [...knownTokenHosts, ...tokenHosts]) {
    const at = hostAndPort(registryUrl(registry));
    tokenOrigins.set(at, (tokenOrigins.get(at) ?? new Set<string>()).add(registryUrl(tokenHost).origin));
  }
  const urls = registries.map(registryUrl);
  return {
    listed: new Set(urls.map(hostAndPort)),
    plain: new Set(urls.filter(({ protocol }) => protocol === 'http:').map(hostAndPort)),
    tokenOrigins,
  };
}

/** The URL of a registry's API, by its canonical name. Docker Hub's is on another host than its name says. */
export function registryUrl(host: string): URL {
  if (host === 'https://index.docker.io/v1/') return new URL('https://registry-1.docker.io');
  return new URL(host.includes('://') ? host : `https://${host}`);
}

export function hostAndPort(url: URL): string {
  return `${url.hostname}:${url.port || (url.protocol === 'http:' ? '80' : '443')}`;
}
