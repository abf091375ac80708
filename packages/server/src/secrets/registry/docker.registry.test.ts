import { createPrivateKey, randomUUID, sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { describeUnless } from '../../../../runtime/test/skip-with-reason.ts';
import {
  createRegistryFolder,
  type DockerRegistry,
  hasDockerRegistry,
  pushImage,
  type RegistryFolder,
  readCertificateContent,
  startDockerRegistry,
  writePasswordFile,
} from '../../../test/support/docker-registry.ts';
import { checkCredentials } from './check-credentials.ts';
import { parseImageReference } from './image-reference.ts';
import { createImageRegistryConnectionPolicy } from './registry-policy.ts';

declare module 'vitest' {
  interface ProvidedContext {
    registryInCi: boolean;
  }
}

const isInstalled = await hasDockerRegistry();
if (!isInstalled && inject('registryInCi')) throw new Error('docker-registry is not installed.');
const notInstalled = isInstalled ? null : 'docker-registry is not installed';

const credentials = 'robot$team:Pa:ss/wörd+=?';
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describeUnless(notInstalled, 'checkCredentials with docker-registry', () => {
  let folder: RegistryFolder;
  let plain: DockerRegistry;
  let secure: DockerRegistry;
  let tokens: Server;
  let byToken: DockerRegistry;

  beforeAll(async () => {
    folder = await createRegistryFolder();
    const [user = '', password = ''] = [credentials.split(':', 1)[0], credentials.slice(credentials.indexOf(':') + 1)];
    const auth = { htpasswd: { realm: 'test', path: await writePasswordFile(folder, user, password) } };
    plain = await startDockerRegistry(folder, auth, false);
    secure = await startDockerRegistry(folder, auth, true);
    await pushImage(plain, basic(credentials), 'team/app', '1.2');
    tokens = await tokenServer(folder);
    const realm = `http://tokens.test:${(tokens.address() as AddressInfo).port}/token`;
    const token = { realm, service: 'of the test', issuer: 'test', rootcertbundle: folder.certificate };
    byToken = await startDockerRegistry(folder, { token }, false);
  });
  afterAll(async () => {
    await Promise.all([plain?.close(), secure?.close(), byToken?.close()]);
    tokens?.close();
    await folder?.remove();
  });

  async function check(registry: string, text: string, named?: string) {
    const at = (tokens.address() as AddressInfo).port;
    const policy = createImageRegistryConnectionPolicy(
      [
        `http://registry.test:${plain.port}`,
        `registry.test:${secure.port}`,
        `http://registry.test:${byToken.port}`,
      ].concat(`tokens.test:${at}`),
      [[`http://registry.test:${byToken.port}`, `http://tokens.test:${at}`]],
    );
    const image = named === undefined ? null : parseImageReference(named, registry);
    if (image !== null && 'problem' in image) throw new Error(image.problem);
    const ca = await readFile(folder.certificate, 'utf8');
    const access = { policy, resolve: async () => ['127.0.0.1'], timeoutMs: 5_000, ca };
    return (await checkCredentials(access, registry, Buffer.from(text), image)).result;
  }

  it.each([
    ['without TLS', () => `http://registry.test:${plain.port}`],
    ['with TLS', () => `registry.test:${secure.port}`],
    ['with a listed token server', () => `http://registry.test:${byToken.port}`],
  ])('verifies valid credentials and rejects invalid ones at a registry %s', async (_, registry) => {
    expect(await check(registry(), credentials)).toBe('verified');
    expect(await check(registry(), credentials, 'team/app:1.2')).toBe('verified');
    expect(await check(registry(), credentials, 'team/app:none')).toBe('rejected');
    expect(await check(registry(), credentials, 'team/none:1.2')).toBe('rejected');
    expect(await check(registry(), `${credentials}x`)).toBe('rejected');
    expect(await check(registry(), `nobody:${credentials.slice(11)}`)).toBe('rejected');
  });

  it('returns unreachable for an untrusted certificate and for a registry without TLS', async () => {
    const policy = createImageRegistryConnectionPolicy([`other.test:${secure.port}`, `other.test:${plain.port}`], []);
    const access = { policy, resolve: async () => ['127.0.0.1'], timeoutMs: 5_000 };
    const ca = await readFile(folder.certificate, 'utf8');
    for (const [one, port] of [
      [access, secure.port],
      [{ ...access, ca }, secure.port],
      [access, plain.port],
    ] as const) {
      const verdict = await checkCredentials(one, `other.test:${port}`, Buffer.from(credentials), null);
      expect(verdict).toMatchObject({ result: 'unreachable', message: expect.stringContaining('certificate') });
    }
  });
});

/** Starts a token server for Docker Registry v2 authentication. Its only user gets a token for any repository in a request. */
async function tokenServer(folder: RegistryFolder): Promise<Server> {
  const key = createPrivateKey(await readFile(folder.key));
  const certificate = await readCertificateContent(folder);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const server = createServer((request, response) => {
    if (request.headers.authorization !== basic(credentials)) return response.writeHead(401).end();
    const { searchParams } = new URL(request.url ?? '', 'http://tokens.test');
    const [type, name, actions] = (searchParams.get('scope') ?? '').split(':');
    const seconds = Math.floor(Date.now() / 1000);
    const times = { iat: seconds, nbf: seconds - 60, exp: seconds + 60 };
    const access = name === undefined ? [] : [{ type, name, actions: actions?.split(',') }];
    const claims = { iss: 'test', sub: 'robot', aud: searchParams.get('service'), jti: randomUUID(), access, ...times };
    const signed = `${part({ typ: 'JWT', alg: 'ES256', x5c: [certificate] })}.${part(claims)}`;
    const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url');
    return response.writeHead(200).end(JSON.stringify({ token: `${signed}.${signature}` }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
