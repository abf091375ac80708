import { describe, expect, it } from 'vitest';
import { type EngineClient, EngineError, type EngineRequest } from './engine-client.ts';
import { createImages } from './images.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const credentials = { registry: 'registry.example:5000', username: 'user', password: 'pass?' };

/** Answers like an engine that has no image, and collects the requests for the registry. */
function openImages(distribution: () => unknown) {
  const requests: EngineRequest[] = [];
  const engine: EngineClient = {
    call: async (_, path, request = {}) => {
      if (path === '/version') return { Os: 'linux', Arch: 'amd64' };
      if (!path.startsWith('/distribution/')) throw new EngineError('No such image', 404);
      requests.push(request);
      return distribution();
    },
    stream: async () => expect.fail('nothing is pulled'),
    close: async () => undefined,
  };
  const images = createImages({ engine, limitBytes: 1000, allowsLocal: false });
  const resolve = (reference: string, given: typeof credentials | null) =>
    images.resolve(
      reference,
      {
        credentials: async () => given,
        onProgress: () => undefined,
        signal: new AbortController().signal,
      },
      () => undefined,
    );
  return { requests, resolve };
}

const fail = (message: string, status: number) => () => {
  throw new EngineError(message, status);
};

describe('images of the Docker driver', () => {
  it('are asked for with credentials in padded Base64 for URLs', async () => {
    const { requests, resolve } = openImages(fail('unauthorized', 401));
    await expect(resolve('registry.example:5000/team/bot:1', credentials)).rejects.toThrow();
    const header = requests[0]?.headers?.['x-registry-auth'] ?? '';
    expect(header.length % 4).toBe(0);
    expect(header).not.toMatch(/[+/]/);
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toMatchObject({
      username: 'user',
      password: 'pass?',
    });
  });

  it('are not asked for with the credentials of another registry', async () => {
    const { requests, resolve } = openImages(fail('unauthorized', 401));
    await expect(resolve('other.example/team/bot:1', credentials)).rejects.toMatchObject({
      imageCode: 'PCC_IMAGE_PULL_UNAUTHORIZED',
    });
    expect(requests).toEqual([]);
  });

  // Messages of Docker Engine 20.10.
  it.each([
    ['manifest unknown: manifest unknown', 404, 'PCC_IMAGE_NOT_FOUND'],
    ['Head "https://r/v2/t/bot/manifests/1": no basic auth credentials', 500, 'PCC_IMAGE_PULL_UNAUTHORIZED'],
    ['unauthorized: authentication required', 401, 'PCC_IMAGE_PULL_UNAUTHORIZED'],
    ['toomanyrequests: You have reached your pull rate limit.', 429, 'PCC_IMAGE_PULL_RATE_LIMIT'],
    [
      "error unmarshalling content: invalid character '<' looking for beginning of value",
      500,
      'PCC_IMAGE_PULL_UNKNOWN_ERROR',
    ],
    [
      'Get "https://nohost.invalid/v2/": dial tcp: lookup nohost.invalid: no such host',
      500,
      'PCC_IMAGE_PULL_UNKNOWN_ERROR',
    ],
  ])('fail with a code for the message %s', async (message, status, imageCode) => {
    const { resolve } = openImages(fail(message, status));
    await expect(resolve('registry.example:5000/team/bot:1', null)).rejects.toMatchObject({ imageCode });
  });

  it('for another processor are refused before the pull', async () => {
    const Platforms = [{ os: 'linux', architecture: 'arm64' }];
    const { resolve } = openImages(() => ({ Descriptor: { digest }, Platforms }));
    await expect(resolve('registry.example:5000/team/bot:1', null)).rejects.toMatchObject({
      imageCode: 'PCC_INVALID_IMAGE_PLATFORM',
      message: expect.stringContaining('linux/arm64'),
    });
  });

  it('cannot be pulled while the disk of the engine is full, which a later attempt may find otherwise', async () => {
    const { resolve } = openImages(fail('write /var/lib/docker/tmp: no space left on device', 500));
    const error = await resolve('registry.example:5000/team/bot:1', null).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      name: 'Error',
      message: expect.stringContaining('disk of the Docker engine is full'),
    });
  });
});
