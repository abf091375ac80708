import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from './killing/free-port.ts';
import { type ServiceProcess, serviceProcess } from './killing/service-process.ts';

/** Long enough to be nowhere by chance, short enough that no storage compresses it. */
const canary = `canary-${randomBytes(16).toString('hex')}`;

/** How a value could lie somewhere: as it is, encoded at each of the three offsets of Base64, in hex, in UTF-16. */
function formsOf(value: string): readonly Buffer[] {
  const bytes = Buffer.from(value);
  const encoded = [0, 1, 2].map((offset) => {
    const whole = Buffer.concat([Buffer.alloc(offset), bytes, Buffer.alloc(3)]).toString('base64');
    // What shares characters with neighbours is left away.
    return Buffer.from(whole.slice(4, Math.floor(bytes.length / 3) * 4 - 4));
  });
  return [bytes, ...encoded, Buffer.from(bytes.toString('hex')), Buffer.from(value, 'utf16le')];
}

const forms = formsOf(canary);
const holds = (where: Buffer, what: readonly Buffer[] = forms) => what.some((form) => where.includes(form));

/** A bot that tells whether it has the secret, never which. */
const bot = `
require('node:http').createServer((request, response) => {
  if (request.url === '/bot') return response.end(JSON.stringify({ length: (process.env.CANARY || '').length }));
  response.end('{}');
}).listen(Number(process.env.PORT), process.env.BOT_HOST);
`;

describe('a value that was written', () => {
  const directory = mkdtempSync(join(tmpdir(), 'bothost-canary-'));
  const temporary = join(directory, 'tmp');
  const said: string[] = [];
  let service: ServiceProcess;

  beforeAll(async () => {
    chmodSync(directory, 0o711);
    mkdirSync(temporary, { mode: 0o1777 });
    const agent = join(directory, 'finder');
    mkdirSync(agent);
    writeFileSync(join(agent, 'deploy.toml'), 'agent_name = "finder"\n[scaling]\nmax_agents = 2\n');
    writeFileSync(join(agent, 'package.json'), '{"name": "finder", "main": "main.js"}');
    writeFileSync(join(agent, 'main.js'), bot);
    const environment = { BOTHOST_LOG_LEVEL: 'trace', TMPDIR: temporary };
    service = serviceProcess({ directory, agents: [agent], port: await freePort(), environment });
    await service.start().ready;
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  async function ask(method: string, path: string, body?: unknown, key = service.privateKey): Promise<number | null> {
    const answer = await service.call(method, path, key, body);
    said.push(JSON.stringify(answer));
    return answer?.status ?? null;
  }
  const one = (secretKey: string, secretValue = canary) => ({ secrets: [{ secretKey, secretValue }] });
  const isReady = async (name: string) =>
    JSON.stringify((await service.call('GET', `/v1/secrets/${name}`, service.privateKey))?.body).includes('"ready"');

  /** Bytes that no client would send, and all that comes back. */
  async function raw(bytes: string): Promise<void> {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.end(bytes);
    said.push(await text(socket));
  }

  /** Looks at all processes of the machine until it is told to end: who has the value in its arguments or environment. */
  function watchProcesses() {
    const found = { arguments: new Set<string>(), foreign: new Set<string>(), bots: 0 };
    let isOver = false;
    const read = (path: string) => {
      try {
        return readFileSync(path);
      } catch {
        return Buffer.alloc(0);
      }
    };
    const watching = (async () => {
      for (; !isOver; await delay(5)) {
        for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
          const line = read(`/proc/${pid}/cmdline`);
          if (holds(line)) found.arguments.add(line.toString().replaceAll('\0', ' ').slice(0, 80));
          const environment = read(`/proc/${pid}/environ`);
          if (!holds(environment)) continue;
          if (environment.includes('BOTHOST_INSTANCE=')) found.bots += 1;
          else found.foreign.add(line.toString().replaceAll('\0', ' ').slice(0, 80));
        }
      }
    })();
    return {
      found,
      end: async () => {
        isOver = true;
        await watching;
      },
    };
  }

  /** The files below the directory that hold one of these. */
  const filesWith = (what: readonly Buffer[]) =>
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && holds(readFileSync(join(entry.parentPath, entry.name)), what))
      .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));

  it('is in the environment of its bot, and nowhere else', async () => {
    const processes = watchProcesses();
    const log = () => readFileSync(service.logFile);

    // What is right.
    expect(await ask('PUT', '/v1/secrets/bird-cage', one('CANARY'))).toBe(202);
    expect(await ask('PUT', '/v1/secrets/bird-cage', { ...one('CANARY', `${canary}x`), dryRun: true })).toBe(200);
    expect(await ask('PUT', '/v1/secrets/bird-cage', one('OTHER', `first ${canary}\nsecond ${canary}`))).toBe(202);
    expect(await ask('POST', '/v1/secrets/bird-cage/rollback', { revision: 1 })).toBe(202);
    expect(await ask('PUT', '/v1/secrets/bird-cage', one('SHORT', canary))).toBe(202);
    expect(await ask('DELETE', '/v1/secrets/bird-cage/SHORT')).toBe(200);
    const credential = Buffer.from(`user:${canary}`).toString('base64');
    const pull = { isImagePullSecret: true, host: 'ghcr.io', secretValue: credential };
    expect(await ask('PUT', '/v1/secrets/registry', pull)).toBe(202);

    // What is wrong, with the value in each place where somebody could put it.
    const wrong: readonly [path: string, body: unknown][] = [
      ['bird-cage', one('PORT')],
      ['bird-cage', one('A B')],
      ['bird-cage', one(canary.repeat(3))],
      ['bird-cage', one('LONG', canary.repeat(2_000))],
      ['bird-cage', one('ZERO', `${canary}\0`)],
      ['bird-cage', { ...one('A'), region: 'nowhere' }],
      ['bird-cage', { ...one('A'), region: canary }],
      ['bird-cage', { ...one('A'), mode: canary }],
      ['bird-cage', { secrets: [{ secretKey: 'A', secretValue: { canary } }] }],
      ['bird-cage', { secrets: [{ secretKey: 'A', secretValue: [canary] }] }],
      ['bird-cage', { secrets: canary }],
      ['bird-cage', { ...one('A'), secretKey: 'A', secretValue: canary }],
      ['bird-cage', { ...one('A'), expectedRevision: 99 }],
      ['bird-cage', pull],
      ['registry', one('A')],
      ['registry', { ...pull, host: `https://user:${canary}@ghcr.io` }],
      ['registry', { ...pull, secretValue: canary }],
      ['registry', { ...pull, secretValue: `${credential}!` }],
    ];
    for (const [path, body] of wrong) {
      const status = await ask('PUT', `/v1/secrets/${path}`, body);
      expect({ body, status: status ?? 0 }).toSatisfy(({ status }) => status >= 400 && status < 500);
    }
    expect(await ask('PUT', '/v1/secrets/bird-cage', one('A'), 'sk_unknown')).toBe(401);
    expect(await ask('PUT', '/v1/secrets/bird-cage', one('A'), service.publicKey)).toBe(401);
    const head = (length: number, type = 'application/json') =>
      `PUT /v1/secrets/bird-cage HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${service.privateKey}\r\nconnection: close\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n\r\n`;
    const broken = `{"secrets":[{"secretKey":"A","secretValue":"${canary}`;
    await raw(head(broken.length) + broken);
    await raw(head(broken.length, 'text/plain') + broken);
    await raw(head(broken.length + 50) + broken);
    await raw(head(0) + broken);
    await raw(`PUT /v1/secrets/x HTTP/1.1\r\nhost: x\r\nx: ${canary}\0\r\n\r\n`);

    // A bot that has it.
    await expect.poll(() => isReady('bird-cage'), { timeout: 20_000 }).toBe(true);
    expect(await ask('POST', '/v1/agents/finder', { secretSet: 'bird-cage' })).toBe(200);
    await expect
      .poll(async () => (await service.call('POST', '/v1/public/finder/start', service.publicKey, {}))?.status, {
        timeout: 30_000,
      })
      .toBe(200);
    await expect.poll(() => processes.found.bots, { timeout: 20_000 }).toBeGreaterThan(0);
    for (const path of [
      'secrets',
      'secrets/bird-cage',
      'secrets/bird-cage/history',
      'secrets/registry',
      'secrets/registry/history',
      'agents/finder',
      'audit?limit=1000',
    ])
      await ask('GET', `/v1/${path}`);
    for (const path of ['/metrics', '/healthz', '/readyz']) said.push(await (await fetch(service.url + path)).text());

    // A database that dies under a write, and a server that is killed in one.
    const postmaster = Number(
      readFileSync(join(service.dataDirectory, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0],
    );
    const writes = [1, 2, 3].map((number) => ask('PUT', `/v1/secrets/falling-${number}`, one('A')));
    process.kill(postmaster, 'SIGQUIT');
    await Promise.all(writes);
    const last = ask('PUT', '/v1/secrets/last', one('A'));
    service.current().signal('SIGABRT');
    await Promise.all([service.current().dead, last]);
    expect(filesWith(forms)).toEqual([]);
    service.start();
    await service.ready();
    expect(await isReady('bird-cage')).toBe(true);
    await processes.end();
    service.current().signal('SIGTERM');
    await service.current().dead;

    expect(processes.found).toMatchObject({ arguments: new Set(), foreign: new Set() });
    expect(said.filter((answer) => holds(Buffer.from(answer)))).toEqual([]);
    expect(filesWith(forms)).toEqual([]);
    expect(existsSync(join(directory, 'core'))).toBe(false);
    // The search looks where things lie: names are no secret, and are found in the database and in the log.
    expect(filesWith([Buffer.from('bird-cage')]).filter((path) => path.startsWith('data/postgres'))).not.toEqual([]);
    expect(log().includes('bird-cage')).toBe(true);
  }, 180_000);
});
