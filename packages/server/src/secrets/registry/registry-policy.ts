/** What the operator allows beyond registries on public addresses with TLS. Hosts are `host:port`, with the port always. */
export type RegistryPolicy = {
  /** Their addresses may be private ones. */
  readonly listed: ReadonlySet<string>;
  /** These may also be asked without TLS. */
  readonly plain: ReadonlySet<string>;
  /** Origins to which the credentials of a registry may go for a token, beside its own. */
  readonly tokenOrigins: ReadonlyMap<string, ReadonlySet<string>>;
};

/** Registries whose tokens come from another host, as their operators say: Docker Hub and GitLab.com. */
const knownTokenHosts: readonly (readonly [string, string])[] = [
  ['registry-1.docker.io', 'auth.docker.io'],
  ['registry.gitlab.com', 'gitlab.com'],
];

/** From names of registries in their canonical form, and pairs of a registry and its token server in that form. */
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

/** Where the API of a registry is, by its canonical name. Docker Hub's is elsewhere than its name says. */
export function registryUrl(host: string): URL {
  if (host === 'https://index.docker.io/v1/') return new URL('https://registry-1.docker.io');
  return new URL(host.includes('://') ? host : `https://${host}`);
}

export function hostAndPort(url: URL): string {
  return `${url.hostname}:${url.port || (url.protocol === 'http:' ? '80' : '443')}`;
}
