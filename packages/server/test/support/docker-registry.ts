import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { findFreePort } from './free-port.ts';

/**
 * The program of Debian's package `docker-registry`. Tests run the program directly instead of the package's system service.
 */
const program = 'docker-registry';

export async function hasDockerRegistry(): Promise<boolean> {
  const child = spawn(program, ['--version'], { stdio: 'ignore' });
  const [status] = await Promise.race([once(child, 'close'), once(child, 'error').then(() => [null])]);
  return status === 0;
}

/** `address` is a further address of the registry, for which its certificate is valid. */
export async function createRegistryFolder(address = '127.0.0.1') {
  const path = await mkdtemp(join(tmpdir(), 'bothost-registry-'));
  const certificate = join(path, 'certificate.pem');
  const key = join(path, 'key.pem');
  await run('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...[
      '-subj',
      '/CN=registry.test',
      '-addext',
      `subjectAltName=DNS:registry.test,IP:${address}`,
      '-keyout',
      key,
      '-out',
      certificate,
    ],
  ]);
  return { path, certificate, key, remove: () => rm(path, { recursive: true, force: true }) };
}
export type RegistryFolder = Awaited<ReturnType<typeof createRegistryFolder>>;

/** Writes a file with an account in the format of `htpasswd -B`. */
export async function writePasswordFile(folder: RegistryFolder, user: string, password: string): Promise<string> {
  const path = join(folder.path, 'passwords');
  const salt = randomBytes(32).toString('hex').slice(0, 22);
  // Hashes the password with Perl, which every Debian system has. The password is passed on standard input.
  const hash = await run('perl', ['-e', `local $/; print crypt(<STDIN>, '$2y$05$${salt}')`], password);
  await writeFile(path, `${user}:${hash}\n`);
  return path;
}

/**
 * Starts a registry on a free port of an address of this machine. `auth` is passed as the registry's `auth` setting. Registries started with the same
 * folder share their images.
 */
export async function startDockerRegistry(
  folder: RegistryFolder,
  auth: object,
  withTls: boolean,
  address = '127.0.0.1',
) {
  const port = await findFreePort();
  const settings = {
    version: 0.1,
    log: { level: 'warn', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: join(folder.path, 'images') } },
    auth,
    http: {
      addr: `${address}:${port}`,
      secret: 'of this test',
      ...(withTls ? { tls: { certificate: folder.certificate, key: folder.key } } : {}),
    },
  };
  const file = join(folder.path, `registry-${port}.yml`);
  // The configuration is JSON, because YAML is a superset of it.
  await writeFile(file, JSON.stringify(settings));
  const child = spawn(program, ['serve', file], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: '/usr/bin:/bin' },
  });
  const lines: string[] = [];
  createInterface(child.stderr).on('line', (line) => lines.push(line));
  const ended = once(child, 'close');
  for (let open = false; !open; ) {
    if (child.exitCode !== null) throw new Error(`The registry exited: ${lines.join('\n')}`);
    open = await answers(`${address}:${port}`, withTls);
  }
  return {
    port,
    close: async () => {
      child.kill();
      await ended;
    },
  };
}
export type DockerRegistry = Awaited<ReturnType<typeof startDockerRegistry>>;

export async function pushImage(
  registry: DockerRegistry,
  authorization: string,
  name: string,
  tag: string,
): Promise<void> {
  const base = `http://127.0.0.1:${registry.port}/v2/${name}`;
  const send = async (method: string, url: string, body: string, type: string) => {
    const headers = { authorization, 'content-type': type };
    const response = await fetch(url, { method, headers, ...(body === '' ? {} : { body }) });
    if (!response.ok) throw new Error(`${method} ${url} returned ${response.status}: ${await response.text()}`);
    return response.headers.get('location') ?? '';
  };
  const config = '{}';
  const digest = `sha256:${createHash('sha256').update(config).digest('hex')}`;
  const location = await send('POST', `${base}/blobs/uploads/`, '', 'application/octet-stream');
  const upload = new URL(location, base);
  upload.searchParams.set('digest', digest);
  await send('PUT', upload.href, config, 'application/octet-stream');
  const mediaType = 'application/vnd.docker.distribution.manifest.v2+json';
  const manifest = {
    schemaVersion: 2,
    mediaType,
    config: { mediaType: 'application/vnd.docker.container.image.v1+json', size: config.length, digest },
    layers: [],
  };
  await send('PUT', `${base}/manifests/${tag}`, JSON.stringify(manifest), mediaType);
}

/** Returns the certificate in Base64 without PEM markers, as in the `x5c` header of a JWT (RFC 7515, section 4.1.6). */
export async function readCertificateContent(folder: RegistryFolder): Promise<string> {
  return (await readFile(folder.certificate, 'utf8')).replace(/-----[^-]+-----|\s/g, '');
}

async function answers(host: string, withTls: boolean): Promise<boolean> {
  // A registry with TLS answers 400 to a request without TLS, which shows that it is running.
  return fetch(`http://${host}/`).then(
    ({ status }) => status === (withTls ? 400 : 200),
    () => false,
  );
}

async function run(command: string, args: readonly string[], input = ''): Promise<string> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  child.stderr.on('data', (chunk) => (err += String(chunk)));
  // Ignore the error of a program that exits without reading its input.
  child.stdin.on('error', () => undefined).end(input);
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`${command} failed: ${err}`);
  return out;
}
