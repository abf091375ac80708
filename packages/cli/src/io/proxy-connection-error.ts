/** A request failed that went through a proxy. `proxy` is its URL without a password. */
export class ProxyConnectionError extends Error {
  override readonly name = 'ProxyConnectionError';
  readonly proxy: string;
  constructor(proxy: string, cause: unknown) {
    super(`the request through the proxy ${proxy} failed`, { cause });
    this.proxy = proxy;
  }
}
