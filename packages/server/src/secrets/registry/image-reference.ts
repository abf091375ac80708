import { imageRepositorySegmentPattern, normalizeRegistryHost } from '@bothost/contract';
import { formatHostAndPort } from '../../http-client/allowed-hosts.ts';
import { createRegistryUrl } from './registry-policy.ts';

export type ImageReference = { readonly repository: string; readonly reference: string; readonly shown: string };

const tag = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const digest = /^[a-z0-9]+(?:[+._-][a-z0-9]+)*:[0-9a-fA-F]{32,128}$/;

/**
 * Parses an image reference such as `app`, `team/app:1.2` or `ghcr.io/team/app@sha256:...`. A reference without a host is
 * relative to the host and path of the image pull secret. Without a tag and a digest, the tag is `latest`.
 */
export function parseImageReference(text: string, registry: string): ImageReference | { readonly problem: string } {
  const [name = '', hash, ...more] = text.trim().split('@');
  if (more.length > 0) return { problem: 'it contains more than one @' };
  const colon = name.lastIndexOf(':');
  const tagged = colon > name.lastIndexOf('/') ? name.slice(colon + 1) : undefined;
  const path = (tagged === undefined ? name : name.slice(0, colon)).split('/');
  const reference = hash ?? tagged ?? 'latest';
  if (hash === undefined ? !tag.test(reference) : !digest.test(reference)) {
    return { problem: 'its tag or digest is invalid' };
  }
  const url = createRegistryUrl(registry);
  const prefix = url.pathname.split('/').filter((part) => part !== '');
  const [first = ''] = path;
  const hasHost = path.length > 1 && (/[.:]/.test(first) || first === 'localhost');
  if (hasHost) {
    const own = normalizeRegistryHost(first);
    const at = 'host' in own ? createRegistryUrl(url.protocol === 'http:' ? `http://${first}` : own.host) : null;
    if (at === null || formatHostAndPort(at) !== formatHostAndPort(url))
      return { problem: 'it belongs to another registry' };
    path.shift();
  }
  const isBelow = prefix.every((part, index) => path[index] === part) && path.length > prefix.length;
  if (hasHost && !isBelow) return { problem: `it is not below ${prefix.join('/')}` };
  const parts = isBelow ? path : [...prefix, ...path];
  const isHub = url.hostname === 'registry-1.docker.io';
  const whole = isHub && parts.length === 1 ? ['library', ...parts] : parts;
  const repository = whole.join('/');
  if (!whole.every((part) => imageRepositorySegmentPattern.test(part)) || repository.length > 255) {
    return { problem: 'its name is invalid: use lower-case letters and digits, separated by . _ - or /' };
  }
  return { repository, reference, shown: `${repository}${hash === undefined ? ':' : '@'}${reference}` };
}
