/** Hosts, as `host:port`, that the operator allows beyond public addresses with TLS. */
export type AllowedHosts = {
  /** Hosts whose addresses may be private. */
  readonly listed: ReadonlySet<string>;
  /** Hosts to which the service may connect without TLS. */
  readonly plain: ReadonlySet<string>;
};

/** The hosts of URLs. Those with `http://` are also allowed without TLS. */
export function createAllowedHosts(urls: readonly URL[]): AllowedHosts {
  return {
    listed: new Set(urls.map(formatHostAndPort)),
    plain: new Set(urls.filter(({ protocol }) => protocol === 'http:').map(formatHostAndPort)),
  };
}

export function formatHostAndPort(url: URL): string {
  return `${url.hostname}:${url.port || (url.protocol === 'http:' ? '80' : '443')}`;
}
