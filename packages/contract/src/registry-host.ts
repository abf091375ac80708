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
  if (!isHostName(host) || !isSameAsUrl(host)) return { problem: 'it does not begin with a host name' };
  // Kept apart from the port, or 5000 of "host:5000" would be read as one.
  const number = port === '' ? null : /^[0-9]{1,5}$/.test(port) ? Number(port) : Number.NaN;
  if (
    Number.isNaN(number) ||
    (number !== null && (number < 1 || number > 65_535)) ||
    (/:$/.test(rest.slice(0, name.length + 1)) && port === '')
  ) {
    return { problem: 'its port is not a number from 1 to 65535' };
  }
  if (dockerHubNames.has(host) && (number === null || number === 443)) return { host: dockerHub };
  const secure = scheme !== 'http';
  const shownPort = number === null || number === (secure ? 443 : 80) ? '' : `:${number}`;
  const segments = path.split('/').filter((segment) => segment !== '');
  // The path of the API itself, which people copy along.
  while (segments[0] === 'v1' || segments[0] === 'v2') segments.shift();
  if (!segments.every((segment) => imagePathPart.test(segment))) {
    return { problem: 'its path is none in front of images: lower-case letters, digits and . _ - between them' };
  }
  return { host: `${secure ? '' : 'http://'}${host}${shownPort}${segments.map((segment) => `/${segment}`).join('')}` };
}

/** One part of the path of an image (OCI distribution, "Pulling manifests"). */
export const imagePathPart = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*$/;

/**
 * RFC 1123 labels. A name that ends in a number is an address to whoever connects to it (WHATWG URL, "ends in a number"), so
 * it has to be written as one: `2130706433`, `0x7f.1` and `127.1` all mean 127.0.0.1, and look like something else.
 */
function isHostName(host: string): boolean {
  if (host.length > 253) return false;
  const labels = host.split('.');
  if (!labels.every((label) => /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(label))) return false;
  if (!/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) return true;
  return labels.length === 4 && labels.every((label) => /^(?:0|[1-9]\d{0,2})$/.test(label) && Number(label) <= 255);
}

/** A label that begins with `xn--` and is no Punycode is no name to whoever connects to it. */
function isSameAsUrl(host: string): boolean {
  return URL.canParse(`https://${host}`) && new URL(`https://${host}`).hostname === host;
}

/** Whether credentials for it would travel in the clear. */
export function isPlainRegistry(host: string): boolean {
  return host.startsWith('http://');
}

/**
 * Whether a text is strictly Base64 of `user:password`; a password may hold colons, a user may not, and neither a control
 * character (RFC 7617 2).
 */
export function isEncodedCredentials(text: string): boolean {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) return false;
  const binary = atob(text);
  if (btoa(binary) !== text) return false;
  return binary.indexOf(':') > 0 && !/\p{Cc}/u.test(binary.replace(/[\x80-\xff]/g, ''));
}
