/** Returns the URL of a path of the service, whose own URL may have a path, too. */
export function joinServicePath(url: URL, path: string): URL {
  return new URL(url.href.replace(/\/+$/, '') + path);
}

/** Whether a URL has an address of the machine itself. */
export function isLoopback({ hostname }: URL): boolean {
  return /^(?:(?:.*\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i.test(hostname);
}
