import { imageRepositorySegmentPattern, isDockerHub, normalizeRegistryHost } from './registry-host.ts';

/** A reference to a container image, in the form in which Docker, containerd and Kubernetes show it. */
export type ImageReference = {
  /** The registry, in the form of `normalizeRegistryHost`, so that it can be compared with the host of an image pull secret. */
  readonly registry: string;
  /** The path in the registry, such as `library/nginx`. */
  readonly repository: string;
  /** Host and path, such as `docker.io/library/nginx` or `ghcr.io/team/app`. */
  readonly name: string;
  /** `latest` if the reference has neither a tag nor a digest. Null if it has only a digest. */
  readonly tag: string | null;
  /** Such as `sha256:` and 64 hexadecimal digits. A digest takes precedence over a tag. */
  readonly digest: string | null;
  /** The whole reference: name, tag and digest. */
  readonly text: string;
};

/** Matches a tag (OCI Distribution Specification, "Pulling manifests"). */
const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const digestLengths: ReadonlyMap<string, number> = new Map([
  ['sha256', 64],
  ['sha512', 128],
]);
const maxReferenceLength = 512;
const maxRepositoryLength = 255;

/**
 * Parses an image reference such as `nginx`, `team/app:1.2` or `ghcr.io/team/app@sha256:...` by the rules of Docker: without a
 * host, the image is on Docker Hub; without a tag and a digest, the tag is `latest`. `problem` says why the text is not a
 * reference, without quoting it.
 */
export function parseImageReference(text: string): ImageReference | { readonly problem: string } {
  if (text.length > maxReferenceLength) return { problem: `it is longer than ${maxReferenceLength} characters` };
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text)?.[0];
  if (scheme !== undefined) return { problem: `it begins with ${scheme.toLowerCase()}: write only host, path and tag` };
  const [nameAndTag = '', digest = null, ...others] = text.split('@');
  if (others.length > 0) return { problem: 'it contains more than one @' };
  const digestProblem = digest === null ? null : findDigestProblem(digest);
  if (digestProblem !== null) return { problem: digestProblem };
  const colon = nameAndTag.lastIndexOf(':');
  const hasTag = colon > nameAndTag.lastIndexOf('/');
  const tag = hasTag ? nameAndTag.slice(colon + 1) : digest === null ? 'latest' : null;
  if (tag !== null && !tagPattern.test(tag)) {
    return { problem: 'its tag must have 1 to 128 letters, digits and . _ or -, and begin with none of . and -' };
  }
  const [first = '', ...rest] = (hasTag ? nameAndTag.slice(0, colon) : nameAndTag).split('/');
  // By the rule of Docker, the first part is a host if it could not be a part of a path on Docker Hub.
  const hasHost = rest.length > 0 && (/[.:A-Z]/.test(first) || first === 'localhost');
  const registry = normalizeRegistryHost(hasHost ? first : 'docker.io');
  if ('problem' in registry) return { problem: `its host is not valid: ${registry.problem}` };
  const isHub = isDockerHub(registry.host);
  const path = hasHost ? rest : [first, ...rest];
  const segments = isHub && path.length === 1 ? ['library', ...path] : path;
  const repository = segments.join('/');
  if (/[A-Z]/.test(repository)) return { problem: 'its path contains upper-case letters: use lower-case letters' };
  if (!segments.every((segment) => imageRepositorySegmentPattern.test(segment))) {
    return { problem: 'its path must have lower-case letters and digits, separated by . _ - or /' };
  }
  if (repository.length > maxRepositoryLength) {
    return { problem: `its path is longer than ${maxRepositoryLength} characters` };
  }
  const name = `${isHub ? 'docker.io' : registry.host}/${repository}`;
  const suffix = `${tag === null ? '' : `:${tag}`}${digest === null ? '' : `@${digest}`}`;
  return { registry: registry.host, repository, name, tag, digest, text: name + suffix };
}

function findDigestProblem(digest: string): string | null {
  const [algorithm = '', hash = ''] = digest.split(':');
  const length = digestLengths.get(algorithm);
  if (length === undefined) return 'its digest must begin with sha256: or sha512:';
  return hash.length === length && /^[0-9a-f]+$/.test(hash) && digest.length === algorithm.length + 1 + length
    ? null
    : `its digest must have ${length} digits from 0 to 9 and a to f`;
}
