import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import type { RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { connectToEngine, type EngineClient } from '../../../runtime/src/docker/engine-client.ts';
import { createImages } from '../../../runtime/src/docker/images.ts';
import {
  noPrivateEngine,
  type PrivateEngine,
  startPrivateEngine,
} from '../../../runtime/test/docker/private-engine.ts';
import { describeUnless } from '../../../runtime/test/skip-with-reason.ts';
import { fillDisk, mountSmallDisk } from '../support/small-disk.ts';
import { createOneLayerImage, serveImage, startHttpRegistry } from './one-layer-registry.ts';

const megabyte = 1024 * 1024;
const limitBytes = 20 * megabyte;
const neverAborted = new AbortController().signal;

describeUnless(noPrivateEngine, 'the image of a registry', () => {
  let engine: PrivateEngine;
  let client: EngineClient;

  beforeAll(async () => {
    engine = await startPrivateEngine();
    client = await connectToEngine(engine.host);
  });
  afterAll(async () => {
    await client.close();
    await engine.close();
  });

  /** Finds and pulls an image. Resolves to its digest. */
  async function pull(
    reference: string,
    limits: { engine?: EngineClient; registryMs?: number; stallMs?: number } = {},
  ) {
    const images = createImages({ engine: client, limitBytes, allowsLocal: false, ...limits });
    const options = { credentials: undefined, onProgress: () => undefined, signal: neverAborted };
    return (await images.resolve(reference, options, () => undefined)).digest;
  }
  async function listen(listener: RequestListener): Promise<string> {
    const registry = await startHttpRegistry(listener);
    onTestFinished(registry.close);
    return `127.0.0.1:${registry.port}/team/bot:1`;
  }
  const respond =
    (status: number, body: string, type = 'application/json') =>
    (response: ServerResponse) =>
      void response.writeHead(status, { 'content-type': type }).end(body);
  const registryError = (code: string, message: string) => JSON.stringify({ errors: [{ code, message }] });

  it('is pulled, also through a redirect', async () => {
    const image = createOneLayerImage(1_000);
    const serve = serveImage(image);
    // The engine follows redirects of blobs, as storage of cloud providers sends them.
    const reference = await listen((request, response) => {
      const url = request.url ?? '';
      if (url.startsWith('/moved/')) request.url = url.replace('/moved/', '/v2/');
      else if (url.includes('/blobs/'))
        return void response.writeHead(307, { location: `/moved${url.slice(3)}` }).end();
      serve(request, response);
    });
    expect(await pull(reference)).toBe(image.digest);
  });

  it('is pulled although its connection is cut once in the middle', async () => {
    const image = createOneLayerImage(2 * megabyte);
    let requests = 0;
    const reference = await listen(
      serveImage(image, (request, response) => {
        requests++;
        if (requests === 1) {
          response.writeHead(200, { 'content-length': image.archive.length });
          return void response.write(image.archive.subarray(0, megabyte), () => response.destroy());
        }
        const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
        const total = image.archive.length;
        const range = { 'content-range': `bytes ${from}-${total - 1}/${total}`, 'content-length': total - from };
        response.writeHead(from === 0 ? 200 : 206, range).end(image.archive.subarray(from));
      }),
    );
    expect(await pull(reference)).toBe(image.digest);
    expect(requests).toBe(2);
  });

  it('is refused for the rate limit', async () => {
    const limited = respond(429, registryError('TOOMANYREQUESTS', 'You have reached your pull rate limit.'));
    const reference = await listen((request, response) => {
      if (request.url === '/v2/') response.end('{}');
      else limited(response);
    });
    await expect(pull(reference)).rejects.toMatchObject({ imageCode: 'PCC_IMAGE_PULL_RATE_LIMIT' });
  });

  it('fails if the registry accepts connections but does not respond', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await expect(pull(`127.0.0.1:${port}/team/bot:1`, { registryMs: 500 })).rejects.toMatchObject({
      imageCode: 'PCC_IMAGE_PULL_UNKNOWN_ERROR',
      message: expect.stringContaining(`the registry 127.0.0.1:${port} does not respond`),
    });
  });

  it('fails if the registry stops in the middle of a layer', async () => {
    const image = createOneLayerImage(megabyte);
    const reference = await listen(
      serveImage(image, (_, response) => {
        response.writeHead(200, { 'content-length': image.archive.length });
        response.write(image.archive.subarray(0, 100_000));
      }),
    );
    await expect(pull(reference, { stallMs: 500 })).rejects.toMatchObject({
      imageCode: 'PCC_IMAGE_PULL_UNKNOWN_ERROR',
      message: expect.stringContaining('made no progress'),
    });
  });

  it.each([
    ['states 10 GB for a layer', 2_000, 10 * 1024 ** 3],
    ['sends a layer without end that it states with 1,000 bytes', 3_000, 1_000],
  ])('is not pulled to the end if the registry %s', async (_, bytes, statedBytes) => {
    const image = createOneLayerImage(bytes, 'amd64', statedBytes);
    let sent = 0;
    let close: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => {
      close = resolve;
    });
    const reference = await listen(
      serveImage(image, (_, response) => {
        response.on('close', close);
        const chunk = Buffer.alloc(megabyte, 1);
        const send = () => {
          if (response.destroyed) return;
          sent += chunk.length;
          response.write(chunk, () => setImmediate(send));
        };
        send();
      }),
    );
    await expect(pull(reference)).rejects.toMatchObject({
      imageCode: 'PCC_IMAGE_TOO_LARGE',
      message: expect.stringContaining('The limit is 20 MB (BOTHOST_IMAGE_MB).'),
    });
    await closed;
    expect(sent).toBeLessThan(1024 ** 3);
  });

  it('is pulled by a later attempt after the disk of the engine was full', async () => {
    const dataRoot = (await mountSmallDisk(64)) ?? expect.fail('this machine does not allow mounts');
    const small = await startPrivateEngine({ dataRoot });
    onTestFinished(small.close);
    const smallClient = await connectToEngine(small.host);
    onTestFinished(smallClient.close);
    const image = createOneLayerImage(10 * megabyte);
    const reference = await listen(serveImage(image));
    const filler = await fillDisk(dataRoot, 5 * megabyte);
    const error = await pull(reference, { engine: smallClient }).catch((reason: unknown) => reason);
    // Without a code, so the service tries again.
    expect(error).toMatchObject({
      name: 'Error',
      message: `The disk of the Docker engine is full, so image "${reference}" could not be pulled.`,
    });
    await rm(filler);
    expect(await pull(reference, { engine: smallClient })).toBe(image.digest);
  });

  it('is refused before the pull if it is for another processor', async () => {
    const reference = await listen(serveImage(createOneLayerImage(1_000, 's390x')));
    await expect(pull(reference)).rejects.toMatchObject({
      imageCode: 'PCC_INVALID_IMAGE_PLATFORM',
      message: expect.stringMatching(
        /linux\/s390x, but bots run on linux\/\w+\. Build it with "docker build --platform/,
      ),
    });
  });

  it.each([
    ['a web page', respond(200, '<html>Sign in</html>', 'text/html'), 'PCC_IMAGE_PULL_UNKNOWN_ERROR', /is a registry/],
    [
      'only redirects',
      (response: ServerResponse) => void response.writeHead(307, { location: '/v2/' }).end(),
      'PCC_IMAGE_PULL_UNKNOWN_ERROR',
      /redirects/,
    ],
    ['an error of the server', respond(500, 'oops'), 'PCC_IMAGE_PULL_UNKNOWN_ERROR', /Deploy again/],
    [
      'a missing manifest',
      respond(404, registryError('MANIFEST_UNKNOWN', 'manifest unknown')),
      'PCC_IMAGE_NOT_FOUND',
      /manifest unknown/,
    ],
    [
      'that nobody may read it',
      respond(403, registryError('DENIED', 'access denied')),
      'PCC_IMAGE_PULL_UNAUTHORIZED',
      /denied/,
    ],
  ])('fails if the registry answers with %s', async (_, answer, imageCode, message) => {
    const reference = await listen((request, response) => {
      if (request.url === '/v2/' && imageCode !== 'PCC_IMAGE_PULL_UNKNOWN_ERROR') response.end('{}');
      else answer(response);
    });
    const error = await pull(reference).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ imageCode, message: expect.stringMatching(message) });
  });

  it.each([
    [
      'a host that does not resolve',
      'registry.invalid/team/bot:1',
      'PCC_IMAGE_PULL_UNKNOWN_ERROR',
      /Check the name of the registry/,
    ],
    [
      'a port at which nothing listens',
      '127.0.0.1:1/team/bot:1',
      'PCC_IMAGE_PULL_UNKNOWN_ERROR',
      /Check the name of the registry/,
    ],
    ['upper case', 'ghcr.io/Team/bot:1', 'PCC_IMAGE_NOT_FOUND', /use lower-case letters/],
    ['a short digest', `ghcr.io/team/bot@sha256:${'a'.repeat(63)}`, 'PCC_IMAGE_NOT_FOUND', /must have 64 digits/],
  ])('fails for a reference with %s', async (_, reference, imageCode, message) => {
    const error = await pull(reference).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ imageCode, message: expect.stringMatching(message) });
  });
});
