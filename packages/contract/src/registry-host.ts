/** The name that Docker Hub's credentials have everywhere. */
const dockerHub = 'https://index.docker.io/v1/';
const dockerHubNames: ReadonlySet<string> = new Set([
  'docker.io',
  'index.docker.io',
  'registry-1.docker.io',
  'registry.hub.docker.com',
]);

/**
 * The one name of a registry, from any form that people write: `host`, `host:port`, with a path in front of which images
 * lie, or a URL (decisions, "image pull secret host"). `problem` is a sentence for people; it repeats nothing of the text,
 * which may hold a password.
 */
export function canonicalRegistry(text: string): { readonly host: string } | { readonly problem: string } {
  const trimmed = text.trim();
  // Everything outside printable ASCII: names that look alike are no names here. Spaces, quotes and backslashes too.
  if (!/^[!#-[\]_a-z~]+$/i.test(trimmed))
    return { problem: 'it has characters that the name of a registry cannot have' };
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(trimmed)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== 'https' && scheme !== 'http')
    return { problem: 'only https registries are known' };
  const rest = scheme === undefined ? trimmed : trimmed.slice(scheme.length + 3);
  if (/[@]/.test(rest)) return { problem: 'it holds a user name: leave it out, and give it with the credentials' };
  if (/[?#%]/.test(rest)) return { problem: 'it holds more than a host, a port and a path' };
  const [, name = '', port = '', path = ''] = /^([^/:]*)(?::([^/]*))?(\/.*)?$/.exec(rest) ?? [];
  const host = name.toLowerCase();
  if (!/^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/.test(host) || host.includes('..')) {
    return { problem: 'it begins with no host name' };
  }
  // Kept apart from the port, or 5000 of "host:5000" would be read as one.
  const number = port === '' ? null : /^[0-9]{1,5}$/.test(port) ? Number(port) : Number.NaN;
  if (
    Number.isNaN(number) ||
    (number !== null && (number < 1 || number > 65_535)) ||
    (/:$/.test(rest.slice(0, name.length + 1)) && port === '')
  ) {
    return { problem: 'its port is no number from 1 to 65535' };
  }
  if (dockerHubNames.has(host) && (number === null || number === 443)) return { host: dockerHub };
  const secure = scheme !== 'http';
  const shownPort = number === null || number === (secure ? 443 : 80) ? '' : `:${number}`;
  const segments = path.split('/').filter((segment) => segment !== '');
  if (segments.some((segment) => segment === '.' || segment === '..')) return { problem: 'its path holds dots' };
  const [first = ''] = segments;
  const below = first === 'v1' || first === 'v2' ? segments.slice(1) : segments;
  return { host: `${secure ? '' : 'http://'}${host}${shownPort}${below.map((segment) => `/${segment}`).join('')}` };
}

/** Whether a text is strictly Base64 of `user:password`; a password may hold colons, a user may not. */
export function isEncodedCredentials(text: string): boolean {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) return false;
  const binary = atob(text);
  if (btoa(binary) !== text) return false;
  return binary.indexOf(':') > 0 && !binary.includes('\0');
}
