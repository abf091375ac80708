import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { InstallationCheck } from '@bothost/contract';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { isRoot } from '../../runtime/test/root.ts';
import { describeUnless } from '../../runtime/test/skip-with-reason.ts';
import { createTestAuthority, type TestAuthority, type TestCertificate } from '../../runtime/test/test-authority.ts';
import { createClientConfig } from '../src/store/address.ts';
import { findFreePort } from './support/free-port.ts';
import { startNginx } from './support/nginx.ts';
import { createServiceProcess, type ServiceProcess } from './support/service-process.ts';
import { fillDisk, mountSmallDisk } from './support/small-disk.ts';
import { createTestDatabase } from './support/test-database.ts';
import { findMissingTurnServer, networkAddress, startTurnServer, type TurnServer } from './support/turn-server.ts';

const botcliProgram = fileURLToPath(new URL('../../cli/bin/botcli.js', import.meta.url));

const missing =
  (await findMissingTurnServer()) ??
  (await promisify(execFile)('nginx', ['-v']).then(
    () => null,
    () => 'nginx is not installed',
  )) ??
  (isRoot ? null : 'only root can mount a small disk');

type DoctorResult = { readonly status: number; readonly checks: readonly InstallationCheck[] };

describeUnless(missing, 'botcli operator doctor', () => {
  let folder: string;
  let authority: TestAuthority;
  let trusted: TestCertificate;
  let turnServer: TurnServer;
  let service: ServiceProcess;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'doctor-'));
    // The database of the service runs with another account.
    await chmod(folder, 0o711);
    authority = await createTestAuthority(folder);
    trusted = await authority.issue(['DNS:localhost', `IP:${networkAddress}`]);
    turnServer = await startTurnServer({ folder, secret: 'of-the-right-service', certificate: trusted });
    const { address, port, tlsPort } = turnServer;
    const relays = [`turn:${address}:${port}`, `turn:${address}:${port}?transport=tcp`, `turns:${address}:${tlsPort}`];
    service = await startService(
      folder,
      'of-the-right-service',
      [{ urls: `stun:${address}:${port}` }, { urls: relays }],
      {
        BOTHOST_TRUSTED_PROXIES: '127.0.0.1',
      },
    );
  }, 120_000);
  afterAll(async () => {
    await stopService(service);
    await turnServer?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function startService(
    directory: string,
    turnSecret: string,
    iceServers: readonly object[],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<ServiceProcess> {
    const started = createServiceProcess({
      directory,
      port: await findFreePort(),
      agents: [],
      environment: {
        NODE_EXTRA_CA_CERTS: authority.file,
        BOTHOST_ICE_SERVERS: JSON.stringify(iceServers),
        BOTHOST_TURN_SECRET: turnSecret,
        ...environment,
      },
    });
    const process = started.start();
    await process.ready;
    expect(process.readyAt(), `the service started, see ${started.logFile}`).not.toBeNull();
    return started;
  }
  async function stopService(started: ServiceProcess | undefined): Promise<void> {
    started?.current().signal('SIGTERM');
    await started?.current().exited;
  }

  async function runDoctor(
    url: string,
    { service: checked = service, ...variables }: { service?: ServiceProcess; [variable: string]: unknown } = {},
  ): Promise<DoctorResult> {
    const env = {
      HOME: folder,
      BOTHOST_DATA_DIR: checked.dataDirectory,
      NODE_EXTRA_CA_CERTS: authority.file,
      ...(variables as Record<string, string>),
    };
    const words = [botcliProgram, 'operator', 'doctor', '--json', '--api-url', url];
    const { status, stdout } = await promisify(execFile)(execPath, words, { env }).then(
      (result) => ({ status: 0, ...result }),
      ({ code, stdout: output }: { code: number; stdout: string }) => ({ status: code, stdout: output }),
    );
    const report = JSON.parse(stdout);
    return { status, checks: report.checks ?? report.error.details.checks };
  }

  /** Starts nginx in front of a service until the end of the test, and returns its URL. */
  async function startProxy(
    options: {
      readonly certificate?: TestCertificate;
      readonly host?: string;
      readonly servicePort?: string;
      readonly edit?: (configuration: string) => string;
    } = {},
  ): Promise<string> {
    const { certificate = trusted, host = 'localhost', servicePort = new URL(service.url).port, edit } = options;
    const port = await findFreePort();
    const listen = `${host === 'localhost' ? '127.0.0.1' : host}:${port}`;
    const proxy = await startNginx({ folder, listen, servicePort, ...certificate, ...(edit ? { edit } : {}) });
    onTestFinished(async () => {
      const ended = once(proxy, 'exit');
      proxy.kill('SIGTERM');
      await ended;
    });
    const isListening = async () => {
      const response = await fetch(`http://${listen}/`, { redirect: 'manual' });
      await response.arrayBuffer();
    };
    await vi.waitFor(isListening, 10_000);
    return `https://${host}:${port}`;
  }

  const summarize = (checks: readonly InstallationCheck[]) =>
    checks.map(({ subject, state }) => `${subject}: ${state}`);
  const failuresIn = (checks: readonly InstallationCheck[]) => checks.filter(({ state }) => state === 'failed');

  it('finds nothing wrong with the documented proxy and TURN server', async () => {
    const { status, checks } = await runDoctor(await startProxy());
    const { address, port, tlsPort } = turnServer;
    expect(failuresIn(checks)).toEqual([]);
    expect(status).toBe(0);
    expect(summarize(checks)).toEqual([
      'Service: ok',
      // The certificate of the test expires in two days.
      'TLS: warning',
      // The proxy of the test is on loopback.
      'Public URL: warning',
      'WebSocket: ok',
      'Uploads: ok',
      'Clock: ok',
      'Database: ok',
      'Disk: ok',
      'Secrets: ok',
      'Runtime: ok',
      `ICE server stun:${address}:${port}: ok`,
      `ICE server turn:${address}:${port}: ok`,
      `ICE server turn:${address}:${port}?transport=tcp: ok`,
      `ICE server turns:${address}:${tlsPort}: ok`,
    ]);
    for (const { state, nextStep } of checks) expect(nextStep === null).toBe(state === 'ok');
  });

  const without = (pattern: RegExp) => (configuration: string) => {
    expect(configuration).toMatch(pattern);
    return configuration.replace(pattern, '');
  };

  it.each([
    ['drops the Upgrade header', 'WebSocket', without(/proxy_set_header Upgrade .*/), /Upgrade header/],
    [
      'uses HTTP/1.0 and closes connections',
      'WebSocket',
      without(/proxy_http_version.*\n|.*\$connection_upgrade;/g),
      /./,
    ],
    ['has the default limit of bodies', 'Uploads', without(/client_max_body_size.*/), /large bodies/],
    [
      'forwards to another port',
      'Public URL',
      (text: string) => text.replace(/proxy_pass .*/, 'proxy_pass http://127.0.0.1:9;'),
      /502/,
    ],
    [
      'serves another site',
      'Public URL',
      (text: string) => text.replace(/proxy_pass .*/, 'return 200 "a shop";'),
      /200/,
    ],
    [
      'redirects',
      'Public URL',
      (text: string) => text.replace(/proxy_pass .*/, 'return 301 https://www.example.com;'),
      /redirects to/,
    ],
  ])('finds a proxy that %s', async (_, subject, edit, reason) => {
    const { status, checks } = await runDoctor(await startProxy({ edit }));
    expect(status).toBe(1);
    expect(failuresIn(checks)).toEqual([
      { subject, state: 'failed', reason: expect.stringMatching(reason), nextStep: expect.any(String) },
    ]);
  });

  it.each([
    ['that has expired', () => authority.issue(['DNS:localhost'], 'expired'), /expired 1 days ago|expired/, {}],
    ['for another name', () => authority.issue(['DNS:other.example']), /not for the name localhost/, {}],
    ['of an unknown issuer', async () => trusted, /unknown issuer|not trusted/, { NODE_EXTRA_CA_CERTS: '' }],
    ['that is self-signed', async () => selfSigned(), /self-signed/, {}],
  ])('finds a certificate %s', async (_, issue, reason, variables) => {
    const { status, checks } = await runDoctor(await startProxy({ certificate: await issue() }), variables);
    expect(status).toBe(1);
    expect(checks).toEqual([
      { subject: 'TLS', state: 'failed', reason: expect.stringMatching(reason), nextStep: expect.any(String) },
    ]);
  });

  async function selfSigned(): Promise<TestCertificate> {
    const [certificateFile, keyFile] = [join(folder, 'own.pem'), join(folder, 'own-key.pem')];
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile];
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    await promisify(execFile)('openssl', ['req', '-x509', ...key, ...names, '-days', '2', '-out', certificateFile]);
    return { certificateFile, keyFile };
  }

  it('finds a URL without TLS', async () => {
    const edit = (text: string) => text.replace(/ ssl;/, ';').replace(/ssl_certificate.*/g, '');
    const url = (await startProxy({ host: networkAddress ?? '', edit })).replace('https', 'http');
    const { checks } = await runDoctor(url);
    expect(failuresIn(checks)).toMatchObject([{ subject: 'Public URL', reason: expect.stringContaining('no TLS') }]);
  });

  it('finds a clock that is off', async () => {
    const shift = join(folder, 'shift.mjs');
    await writeFile(
      shift,
      'const now = Date.now; globalThis.Date = class extends Date { constructor(...a) { super(...(a.length ? a : [now() - 120_000])); } static now() { return now() - 120_000; } };',
    );
    const { status, checks } = await runDoctor(service.url, { NODE_OPTIONS: `--import=${shift}` });
    expect(status).toBe(1);
    expect(failuresIn(checks)).toMatchObject([
      { subject: 'Clock', reason: expect.stringMatching(/^The clock of the service is 1(19|2\d) seconds ahead/) },
    ]);
  });

  it('finds a service that does not run', async () => {
    const { status, checks } = await runDoctor(`http://127.0.0.1:${await findFreePort()}`);
    expect(status).toBe(1);
    expect(checks).toMatchObject([{ subject: 'Public URL', reason: expect.stringContaining('No program listens') }]);
  });

  it('finds ten faults of one service', async ({ skip }) => {
    const disk = await mountSmallDisk(64);
    if (disk === null) return skip('this machine does not let root mount a tmpfs');
    const secret = 'of-the-wrong-service';
    const expired = await authority.issue([`IP:${networkAddress}`], 'expired');
    const startTurn = async (certificate: TestCertificate, edit: (configuration: string) => string) => {
      const server = await startTurnServer({ folder, secret, certificate, edit });
      onTestFinished(server.close);
      return server;
    };
    const open = await startTurn(expired, without(/denied-peer-ip.*\n/g));
    const anybody = await startTurn(trusted, (text) =>
      text.replace('use-auth-secret', 'no-auth').replace(/static-auth-secret.*/, ''),
    );
    const closed = await startTurn(trusted, (text) =>
      text.replace(/allowed-peer-ip=.*/, `denied-peer-ip=${networkAddress}`),
    );
    const database = await createTestDatabase();
    onTestFinished(database.drop);
    const admin = new pg.Client(createClientConfig(database.admin));
    await admin.connect();
    await admin.query(`alter database ${new URL(database.url).pathname.slice(1)} connection limit 12`);
    await admin.end();
    const iceServers = [
      { urls: `turn:${turnServer.address}:${turnServer.port}` },
      { urls: [`turn:${open.address}:${open.port}`, `turns:${open.address}:${open.tlsPort}`] },
      { urls: `turn:${anybody.address}:${anybody.port}` },
      { urls: `turn:${closed.address}:${closed.port}` },
      { urls: [`turn:${networkAddress}:9?transport=tcp`, `stun:${networkAddress}:9`, 'stun:turn.invalid'] },
    ];
    const wrong = await startService(disk, secret, iceServers, { DATABASE_URL: database.url });
    onTestFinished(() => stopService(wrong));
    await fillDisk(disk, 1_000_000);
    const url = await startProxy({ host: networkAddress ?? '', servicePort: new URL(wrong.url).port });
    const { status, checks } = await runDoctor(url, { service: wrong });
    expect(status).toBe(1);
    const faults = failuresIn(checks).map(({ subject, reason }) => `${subject}: ${reason}`);
    const expected = [
      ['URLs in responses', `clients get URLs that begin with ${wrong.url}`],
      ['Database', 'allows this service 12 connections'],
      ['Disk', 'starts no sessions and builds'],
      [`turn:${turnServer.address}:${turnServer.port}`, 'does not accept the credentials'],
      [`turn:${open.address}:${open.port}`, 'relays to the private address'],
      [`turns:${open.address}:${open.tlsPort}`, 'CERT_HAS_EXPIRED'],
      [`turn:${anybody.address}:${anybody.port}`, 'relays for everybody'],
      [`turn:${closed.address}:${closed.port}`, 'relays neither to'],
      [`turn:${networkAddress}:9?transport=tcp`, 'No program listens'],
      [`stun:${networkAddress}:9`, 'No program listens'],
      ['stun:turn.invalid', 'has no address'],
    ];
    expect(faults).toEqual(
      expected.map(([subject, reason]) =>
        expect.stringMatching(new RegExp(`${escapePattern(subject)}: .*${escapePattern(reason)}`)),
      ),
    );
  });
});

const escapePattern = (text = '') => text.replace(/[?.()[\]]/g, '\\$&');
