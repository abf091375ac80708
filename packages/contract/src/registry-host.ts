/** The name under which Docker stores credentials for Docker Hub. */
const dockerHub = 'https://index.docker.io/v1/';
const dockerHubNames: ReadonlySet<string> = new Set([
  'docker.io',
  'index.docker.io',
  'registry-1.docker.io',
  'registry.hub.docker.com',
]);

/**
 * Normalizes the name of a registry, which can be `host`, `host:port`, either of them with a path, or a URL. `problem` says why
 * the text is not such a name, without quoting it, because the text may contain a password.
 */
export function normalizeRegistryHost(text: string): { readonly host: string } | { readonly problem: string } {
  const trimmed = text.trim();
  // Allow only printable ASCII without spaces, quotes and backslashes, so that no two names look alike.
  if (!/^[!#-[\]_a-z~]+$/i.test(trimmed))
    return { problem: 'it contains characters that are not allowed in the name of a registry' };
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(trimmed)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== 'https' && scheme !== 'http') return { problem: 'its scheme is not https' };
  const rest = scheme === undefined ? trimmed : trimmed.slice(scheme.length + 3);
  if (/[@]/.test(rest)) return { problem: 'it contains a user name: move it to the credentials' };
  if (/[?#%]/.test(rest)) return { problem: 'it contains more than a host, a port and a path' };
  const [, name = '', port = '', path = ''] = /^([^/:]*)(?::([^/]*))?(\/.*)?$/.exec(rest) ?? [];
  const host = name.toLowerCase();
  if (!isHostName(host) || !isSameAsUrl(host)) return { problem: 'it does not start with a host name' };
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
  // Remove the API path of a registry, which users often copy along with the host.
  while (segments[0] === 'v1' || segments[0] === 'v2') segments.shift();
  if (!segments.every((segment) => imageRepositorySegmentPattern.test(segment))) {
    return { problem: 'its path is not valid for images: use lower-case letters and digits, separated by . _ or -' };
  }
  return { host: `${secure ? '' : 'http://'}${host}${shownPort}${segments.map((segment) => `/${segment}`).join('')}` };
}

/** Returns whether a normalized registry is Docker Hub, whose images are named without a host or with `docker.io`. */
export function isDockerHub(host: string): boolean {
  return host === dockerHub;
}

/** Matches a path segment of an image name (OCI Distribution Specification, "Pulling manifests"). */
export const imageRepositorySegmentPattern = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*$/;

/**
 * Checks that a host name consists of RFC 1123 labels. URL parsers read a host whose last label is a number as an IPv4 address
 * (WHATWG URL, "ends in a number"): `2130706433`, `0x7f.1` and `127.1` all mean 127.0.0.1. So a numeric host must have the usual
 * form with four decimal numbers.
 */
function isHostName(host: string): boolean {
  if (host.length > 253) return false;
  const labels = host.split('.');
  if (!labels.every((label) => /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(label))) return false;
  if (!/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) return true;
  return labels.length === 4 && labels.every((label) => /^(?:0|[1-9]\d{0,2})$/.test(label) && Number(label) <= 255);
}

/** Returns false for a host that URL parsers change or reject, for example one with invalid Punycode after `xn--`. */
function isSameAsUrl(host: string): boolean {
  return URL.canParse(`https://${host}`) && new URL(`https://${host}`).hostname === host;
}

/** Returns true if connections to the registry are not encrypted. */
export function isUnencryptedRegistry(host: string): boolean {
  return host.startsWith('http://');
}

/** Returns whether a text is the Base64 form of `user:password` without control characters (RFC 7617, section 2). */
export function isBasicAuthCredentials(text: string): boolean {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) return false;
  const binary = atob(text);
  if (btoa(binary) !== text) return false;
  return binary.indexOf(':') > 0 && !/\p{Cc}/u.test(binary.replace(/[\x80-\xff]/g, ''));
}
