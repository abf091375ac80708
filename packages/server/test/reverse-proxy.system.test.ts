import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Agent, FormData, fetch } from 'undici';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { describeUnless } from '../../runtime/test/skip-with-reason.ts';
import { type BotProjectDirectory, writeBot } from './support/bots.ts';
import { evaluateJavaScriptInBot, startAgentSession, stopAgentSession, waitUntilAgentIdle } from './support/client.ts';
import { readDocumentedCode } from './support/documented-code.ts';
import { findFreePort } from './support/free-port.ts';
import { startNginx } from './support/nginx.ts';
import { startTestServer, type TestServer } from './support/test-server.ts';

/** The IP address from which the test connects to the proxies. The proxies connect to the service from 127.0.0.1. */
const localAddress = '127.0.0.2';
const run = promisify(execFile);
const botcliProgram = fileURLToPath(new URL('../../cli/bin/botcli.js', import.meta.url));

type Place = { readonly folder: string; readonly port: number; readonly servicePort: string };

/**
 * Functions that start each proxy with its example from docs/reverse-proxy.md. Each proxy listens on `localhost` with the
 * certificate of the test.
 */
const proxies = {
  nginx: ({ folder, port, servicePort }: Place) =>
    startNginx({
      folder,
      listen: `127.0.0.1:${port}`,
      servicePort,
      certificateFile: join(folder, 'certificate.pem'),
      keyFile: join(folder, 'key.pem'),
    }),
  caddy: async ({ folder, port, servicePort }: Place) => {
    const site = await readDocumentedCode('reverse-proxy.md', 'caddy', {
      // Configure the certificate of the test. Otherwise, Caddy would request one.
      'bots.example.com {': `https://localhost:${port} {\ntls ${folder}/certificate.pem ${folder}/key.pem`,
      '127.0.0.1:7420': `127.0.0.1:${servicePort}`,
    });
    await writeFile(join(folder, 'Caddyfile'), `{\nadmin off\nauto_https disable_redirects\n}\n${site}`);
    const config = ['--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'];
    return spawn('caddy', ['run', ...config], { stdio: ['ignore', 'ignore', 'inherit'], env: { HOME: folder } });
  },
};

describe.each(Object.entries(proxies))('the example configuration for %s', async (program, startProxy) => {
  const notInstalled = await run(program, [program === 'nginx' ? '-v' : 'version']).then(
    () => null,
    () => `${program} is not installed`,
  );

  describeUnless(notInstalled, 'in docs/reverse-proxy.md', () => {
    let folder: string;
    let bot: BotProjectDirectory;
    let service: TestServer;
    let url: string;
    let ca: string;
    let dispatcher: Agent;
    let stopProxy: () => Promise<void>;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'reverse-proxy-'));
      const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
      const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
      const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
      await run('openssl', ['req', '-x509', ...kind, ...names, '-keyout', key, '-out', certificate]);
      ca = await readFile(certificate, 'utf8');
      dispatcher = new Agent({ localAddress, connect: { ca } });
      bot = await writeBot('behind', { maxAgents: 2 });
      service = await startTestServer({
        agents: [bot.path],
        environment: { BOTHOST_TRUSTED_PROXIES: '127.0.0.1' },
      });
      const port = await findFreePort();
      url = `https://localhost:${port}`;
      const proxy = await startProxy({ folder, port, servicePort: new URL(service.url).port });
      const ended = once(proxy, 'exit');
      stopProxy = async () => {
        proxy.kill('SIGTERM');
        await ended;
      };
      await vi.waitFor(async () => expect(await ask('/readyz')).toEqual({ status: 'ready' }), 30_000);
    });
    afterAll(async () => {
      await dispatcher?.destroy();
      await stopProxy?.();
      await service?.close();
      await bot?.remove();
      await rm(folder, { recursive: true, force: true });
    });

    const forged = {
      'x-forwarded-for': '203.0.113.1',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'http',
    };
    const forwarded = () => ({
      'x-forwarded-for': localAddress,
      'x-forwarded-host': new URL(url).host,
      'x-forwarded-proto': 'https',
    });

    /** Sends a request like a client that forges X-Forwarded headers. */
    function send(to: string, init: { key?: string; method?: string; body?: string | FormData } = {}) {
      const { key = service.publicKey, ...rest } = init;
      return fetch(to, { ...rest, dispatcher, headers: { ...forged, authorization: `Bearer ${key}` } });
    }
    async function ask(path: string, key?: string, body?: object) {
      const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      const response = await send(url + path, { ...sent, ...(key === undefined ? {} : { key }) });
      return (await response.json()) as Record<string, unknown>;
    }

    it('serves sessions over the WebSocket URL of the proxy', async () => {
      const started = await ask('/v1/public/behind/start', undefined, { transport: 'websocket' });
      expect(String(started['wsUrl'])).toBe(`${url.replace('https', 'wss')}/ws/generic/behind.${service.organization}`);
      const socket = new WebSocket(`${started['wsUrl']}?token=${started['token']}`, {
        ca,
        localAddress,
        headers: forged,
      });
      await once(socket, 'open');
      socket.send('hello');
      expect(String(await once(socket, 'message'))).toBe('hello,false');
      const sessionId = String(started['sessionId']);
      expect(await evaluateJavaScriptInBot(service, 'behind', sessionId, 'state.upgrades')).toMatchObject([
        { headers: forwarded() },
      ]);
      socket.close();
      await waitUntilAgentIdle(service, 'behind');
    });

    it('does not buffer a response from a bot, and forwards the client address to the bot', async () => {
      const id = await startAgentSession(service, 'behind');
      const headers = 'state.seen = request.headers;';
      await evaluateJavaScriptInBot(
        service,
        'behind',
        id,
        `state.onRequest = (request, response) => { ${headers} response.write('first'); }; true`,
      );
      const { body } = await send(`${url}/v1/public/behind/sessions/${id}/stream`);
      const reader = body?.getReader();
      expect(String(Buffer.from((await reader?.read())?.value ?? []))).toBe('first');
      await reader?.cancel();
      expect(await evaluateJavaScriptInBot(service, 'behind', id, 'state.seen')).toMatchObject(forwarded());
      await stopAgentSession(service, 'behind', id);
      await waitUntilAgentIdle(service, 'behind');
    });

    it('makes the audit log record the client address, and the OpenAPI document show the URL of the proxy', async () => {
      await ask('/v1/keys', service.privateKey, { name: 'audited', kind: 'public' });
      const { entries } = await service.client.listAuditEntries({});
      expect(entries[0]).toMatchObject({ action: 'keys.create', address: localAddress });
      expect((await ask('/v1/openapi.json'))['servers']).toEqual([{ url }]);
    });

    it('lets the service ignore X-Forwarded headers of connections that bypass the proxy', async () => {
      const response = await send(`${service.url}/v1/openapi.json`);
      expect(await response.json()).toMatchObject({ servers: [{ url: service.url }] });
    });

    it('accepts an archive that is larger than the default limit of nginx', async () => {
      const upload = await ask('/v1/builds/upload-url', service.privateKey, { region: 'us-west' });
      const body = new FormData();
      body.set('token', (upload['uploadFields'] as { token: string }).token);
      body.set('file', new Blob([randomBytes(4_000_000)]));
      const response = await send(String(upload['uploadUrl']), { method: 'POST', body });
      expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ complete: true })]);
    });

    it('deploys a project of 4 MB', async () => {
      const project = join(folder, 'large');
      await mkdir(project);
      await writeFile(join(project, 'deploy.toml'), 'agent_name = "large"\n');
      await writeFile(join(project, 'package.json'), '{"main": "bot.js"}');
      await writeFile(join(project, 'data.bin'), randomBytes(4_000_000));
      await writeFile(
        join(project, 'bot.js'),
        `require('node:http').createServer((_, response) => response.end()).listen(Number(process.env.PORT), process.env.BOT_HOST);`,
      );
      const env = {
        PATH: '/usr/bin:/bin',
        HOME: folder,
        BOTCLI_API_URL: url,
        BOTCLI_TOKEN: service.privateKey,
        NODE_EXTRA_CA_CERTS: join(folder, 'certificate.pem'),
      };
      const words = [botcliProgram, 'cloud', 'deploy', '--yes', '--json'];
      const { stdout } = await run(execPath, words, { cwd: project, env });
      expect(JSON.parse(stdout)).toMatchObject({ deployment: { serving: true }, talkUrl: `${url}/talk/large` });
    });
  });
});
