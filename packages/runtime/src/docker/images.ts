import {
  createTimeout,
  type ImageErrorCode,
  type ImageReference,
  normalizeRegistryHost,
  parseImageReference,
} from '@bothost/contract';
import { readJsonLines } from '../json-lines.ts';
import type { ImageLayerProgress, RegistryCredentials, RegistryCredentialsProvider } from '../runtime.ts';
import { ProjectPreparationError } from '../runtime.ts';
import { type EngineClient, EngineError, isEngineError } from './engine-client.ts';
import { distributionSchema, imageSchema, pullProgressSchema, versionSchema } from './engine-schemas.ts';
import { createLayerProgress } from './layer-progress.ts';
import type { PreparedImage } from './prepared-image.ts';

const defaultRegistryMs = 60_000;
const defaultStallMs = 120_000;

export type ImagePullOptions = {
  readonly credentials: RegistryCredentialsProvider | undefined;
  readonly onProgress: (layers: readonly ImageLayerProgress[]) => void;
  readonly signal: AbortSignal;
};

export type Images = {
  /**
   * Finds the digest of a reference and pulls the image, unless the engine has it. Always asks the registry, so that no organization uses
   * an image that was pulled with the credentials of another organization.
   *
   * @throws ProjectPreparationError if the image cannot be used; EngineError if the engine fails
   */
  readonly resolve: (
    reference: string,
    options: ImagePullOptions,
    beforePull: (image: string, isPresent: boolean) => void,
  ) => Promise<Omit<PreparedImage, 'id'>>;
  /** Pulls an image that was resolved before, because the engine has lost it. */
  readonly pull: (image: PreparedImage, options: ImagePullOptions) => Promise<void>;
  /** Removes an image, unless a container uses it. Resolves to false if it was not removed. */
  readonly remove: (image: string) => Promise<boolean>;
};

export function createImages({
  engine,
  limitBytes,
  allowsLocal,
  registryMs = defaultRegistryMs,
  stallMs = defaultStallMs,
}: {
  readonly engine: EngineClient;
  readonly limitBytes: number;
  readonly allowsLocal: boolean;
  /** Milliseconds for the first response of a registry. */
  readonly registryMs?: number;
  /** Milliseconds without any progress after which a pull is canceled. Checking a large layer takes a while. */
  readonly stallMs?: number;
}): Images {
  const find = async (image: string) => {
    const found = await engine.call('GET', `/images/${image}/json`).catch((error: unknown) => {
      if (isEngineError(error, 404)) return null;
      throw error;
    });
    return found === null ? null : imageSchema.parse(found);
  };

  const requirePlatform = async (
    shown: string,
    platforms: readonly { readonly os: string; readonly architecture: string }[],
  ) => {
    const { Os, Arch } = versionSchema.parse(await engine.call('GET', '/version'));
    if (platforms.some(({ os, architecture }) => os === Os && architecture === Arch)) return;
    const has = [...new Set(platforms.map(({ os, architecture }) => `${os}/${architecture}`))].join(', ');
    throw new ProjectPreparationError(
      `Image "${shown}" is for ${has}, but bots run on ${Os}/${Arch}. Build it with "docker build --platform ${Os}/${Arch}".`,
      { imageCode: 'PCC_INVALID_IMAGE_PLATFORM' },
    );
  };

  const requireSize = (shown: string, bytes: number) => {
    if (bytes <= limitBytes) return;
    const megabytes = (count: number) => Math.round(count / 1024 / 1024);
    throw new ProjectPreparationError(
      `Image "${shown}" has more than ${megabytes(bytes)} MB. The limit is ${megabytes(limitBytes)} MB (BOTHOST_IMAGE_MB).`,
      { imageCode: 'PCC_IMAGE_TOO_LARGE' },
    );
  };

  const askRegistry = async (
    reference: ImageReference,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) => {
    const timeout = createTimeout(registryMs);
    const path = `/distribution/${getRegistryName(reference)}/json`;
    const response = await engine
      .call('GET', path, { headers, signal: AbortSignal.any([signal, timeout]) })
      .catch((error: unknown) => {
        if (!timeout.aborted || signal.aborted) throw error;
        throw new EngineError(`the registry ${reference.registry} does not respond`, 504);
      });
    return distributionSchema.parse(response);
  };

  const pullImage = async (
    shown: string,
    image: string,
    headers: Readonly<Record<string, string>>,
    { onProgress, signal }: ImagePullOptions,
  ) => {
    const stop = new AbortController();
    const stalled = () => stop.abort(new EngineError(`the pull made no progress for ${stallMs / 1000} seconds`, 504));
    let timer = setTimeout(stalled, stallMs);
    const layers = createLayerProgress(onProgress);
    try {
      const stream = await engine.stream('POST', '/images/create', {
        query: { fromImage: image },
        headers,
        signal: AbortSignal.any([signal, stop.signal]),
      });
      for await (const line of readJsonLines(stream)) {
        clearTimeout(timer);
        timer = setTimeout(stalled, stallMs);
        const progress = pullProgressSchema.parse(line);
        if (progress.error !== undefined) throw new EngineError(progress.error, 500);
        layers.add(progress);
        requireSize(shown, layers.bytes());
      }
      layers.flush();
    } catch (error) {
      signal.throwIfAborted();
      if (stop.signal.aborted) throw stop.signal.reason;
      if (error instanceof EngineError || error instanceof ProjectPreparationError) throw error;
      throw new EngineError(`The Docker engine ended the pull: ${String(error)}.`, null, { cause: error });
    } finally {
      clearTimeout(timer);
      // Closing the connection cancels the pull.
      stop.abort();
    }
  };

  const remove = async (image: string) =>
    engine.call('DELETE', `/images/${image}`, { query: { force: 'false' } }).then(
      () => true,
      (error: unknown) => isEngineError(error, 404),
    );

  const pull = async (
    shown: string,
    image: string,
    headers: Readonly<Record<string, string>>,
    options: ImagePullOptions,
  ) => {
    await pullImage(shown, image, headers, options);
    const found = await find(image);
    if (found === null) throw new EngineError(`The Docker engine lost image "${image}" after it was pulled.`, null);
    try {
      await requirePlatform(shown, [{ os: found.Os, architecture: found.Architecture }]);
      requireSize(shown, found.Size);
    } catch (error) {
      await remove(image);
      throw error;
    }
  };

  /** Calls `use` with the header for the credentials, and gives failures of the registry a code. */
  const withRegistry = async <T>(
    shown: string,
    reference: ImageReference,
    { credentials }: ImagePullOptions,
    use: (headers: Readonly<Record<string, string>>) => Promise<T>,
  ): Promise<T> => {
    const found = (await credentials?.()) ?? null;
    if (found !== null && !isSameRegistry(found.registry, reference)) {
      throw new ProjectPreparationError(
        `The pull secret is for ${found.registry}, but the image is in ${reference.registry}. Choose the pull secret of ${reference.registry}.`,
        { imageCode: 'PCC_IMAGE_PULL_UNAUTHORIZED' },
      );
    }
    return use(toHeaders(found)).catch((error: unknown) => {
      throw toImageError(error, shown, reference);
    });
  };

  return {
    resolve: async (text, options, beforePull) => {
      const reference = parseImageReference(text);
      if ('problem' in reference) {
        throw new ProjectPreparationError(
          `"${text}" is not the name of an image, such as ghcr.io/team/bot:1.4: ${reference.problem}.`,
          { imageCode: 'PCC_IMAGE_NOT_FOUND' },
        );
      }
      // A digest of a repository may have been pulled for another organization. The id of an image is not one.
      const local = allowsLocal ? await find(reference.digest ?? reference.text) : null;
      if (local !== null) {
        await requirePlatform(text, [{ os: local.Os, architecture: local.Architecture }]);
        return { reference: text, image: local.Id, digest: local.Id };
      }
      return withRegistry(text, reference, options, async (headers) => {
        const { Descriptor, Platforms } = await askRegistry(reference, headers, options.signal);
        const { digest } = Descriptor;
        if (Platforms != null && Platforms.length > 0) await requirePlatform(text, Platforms);
        const image = `${reference.name.replace(/^http:\/\//, '')}@${digest}`;
        const present = await find(image);
        beforePull(image, present !== null);
        if (present === null) await pull(text, image, headers, options);
        else requireSize(text, present.Size);
        return { reference: text, image, digest };
      });
    },
    pull: async ({ image, reference: shown }, options) => {
      const reference = parseImageReference(image);
      if ('problem' in reference || reference.digest === null) {
        throw new ProjectPreparationError(`Image "${shown}" was removed from the Docker engine. Deploy it again.`, {
          imageCode: 'PCC_IMAGE_NOT_FOUND',
        });
      }
      await withRegistry(shown, reference, options, (headers) => pull(shown, image, headers, options));
    },
    remove,
  };
}

const getRegistryName = ({ name, tag, digest }: ImageReference) =>
  digest === null ? `${name}:${tag}` : `${name}@${digest}`;

/** Whether credentials for the registry of a pull secret may be sent to the registry of an image. */
function isSameRegistry(registry: string, reference: ImageReference): boolean {
  const own = normalizeRegistryHost(registry);
  const hostOf = (name: string) => name.replace(/^https?:\/\//, '').split('/')[0];
  return 'host' in own && hostOf(own.host) === hostOf(reference.registry);
}

/** The header of the engine's API for credentials: JSON in Base64 for URLs, with padding, without which the engine ignores it. */
function toHeaders(credentials: RegistryCredentials | null): Readonly<Record<string, string>> {
  if (credentials === null) return {};
  const { username, password, registry } = credentials;
  const json = JSON.stringify({ username, password, serveraddress: registry });
  return { 'x-registry-auth': Buffer.from(json).toString('base64').replaceAll('+', '-').replaceAll('/', '_') };
}

/** The code of each failure of a registry, by the status or the message with which the engine reports it. */
const failures: readonly (readonly [ImageErrorCode, readonly number[], RegExp])[] = [
  ['PCC_IMAGE_PULL_RATE_LIMIT', [429], /toomanyrequests|too many requests|rate limit/i],
  ['PCC_INVALID_IMAGE_PLATFORM', [], /no matching manifest|does not match the (?:specified|detected) .*platform/i],
  [
    'PCC_IMAGE_PULL_UNAUTHORIZED',
    [401, 403],
    /unauthorized|no basic auth credentials|authentication required|denied|forbidden/i,
  ],
  ['PCC_IMAGE_NOT_FOUND', [404], /manifest unknown|not found|name unknown/i],
];

/** What to do about failures without a code of their own, by their message. */
const advices: readonly (readonly [RegExp, string])[] = [
  [
    /no such host|connection refused|no route to host|unreachable|i\/o timeout|does not respond/i,
    'Check the name of the registry, and whether the machine of the service can reach it.',
  ],
  [
    /x509|HTTP response to HTTPS client/i,
    'The operator has to make the Docker engine trust the registry, with a certificate in /etc/docker/certs.d.',
  ],
  [
    /invalid character|unmarshal|redirects|media type|unsupported/i,
    'Check whether this address is a registry of images.',
  ],
  [/^/, 'Deploy again.'],
];

/**
 * Translates a failure of the registry, which the engine reports as text, to an error with a code. The server says what to do
 * about codes other than unknown. Failures of the engine itself, such as a full disk, get no code, because a later call may
 * succeed.
 */
function toImageError(error: unknown, shown: string, { registry }: ImageReference): unknown {
  if (!(error instanceof EngineError) || error.status === null) return error;
  const { message, status } = error;
  if (/no space left on device/i.test(message)) {
    return new Error(`The disk of the Docker engine is full, so image "${shown}" could not be pulled.`, {
      cause: error,
    });
  }
  const [imageCode] =
    failures.find(([, statuses, pattern]) => statuses.includes(status) || pattern.test(message)) ?? [];
  const [, advice] = advices.find(([pattern]) => pattern.test(message)) ?? [];
  const text = `Image "${shown}" could not be pulled from ${registry}: ${message.replace(/\.+$/, '').slice(0, 300)}.`;
  return imageCode === undefined
    ? new ProjectPreparationError(`${text} ${advice}`, { imageCode: 'PCC_IMAGE_PULL_UNKNOWN_ERROR', cause: error })
    : new ProjectPreparationError(text, { imageCode, cause: error });
}
