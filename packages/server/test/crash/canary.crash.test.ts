import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CrashService, openCrashService, writeAgent } from './crash-service.ts';

/** The secret value to search for: long enough not to occur by chance, and short enough that PostgreSQL does not compress it. */
const canary = `canary-${randomBytes(16).toString('hex')}`;

/** Returns the encodings in which a value could be stored: plain, Base64 at each of the three offsets, hex, UTF-16. */
function formsOf(value: string): readonly Buffer[] {
  const bytes = Buffer.from(value);
  const encoded = [0, 1, 2].map((offset) => {
    const whole = Buffer.concat([Buffer.alloc(offset), bytes, Buffer.alloc(3)]).toString('base64');
    // Omit the characters at both ends of the Base64 text, because they also encode neighboring bytes.
    return Buffer.from(whole.slice(4, Math.floor(bytes.length / 3) * 4 - 4));
  });
  return [bytes, ...encoded, Buffer.from(bytes.toString('hex')), Buffer.from(value, 'utf16le')];
}

const forms = formsOf(canary);
const holds = (where: Buffer, what: readonly Buffer[] = forms) => what.some((form) => where.includes(form));

const root = fileURLToPath(new URL('../../../..', import.meta.url));
/** `start` is the command that `npm start` runs. `startCommand` also enables core dumps. */
const { start } = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } })
  .scripts;
const startCommand = `ulimit -S -c "$(ulimit -H -c)"; ${start}`;

/** Returns whether this machine writes core dumps into the directory of a crashed program, if limits allow it. */
function leavesCore(directory: string): boolean {
  mkdirSync(directory);
  const command = `ulimit -S -c "$(ulimit -H -c)"; exec "${process.execPath}" -e 'process.abort()'`;
  spawnSync('/bin/sh', ['-c', command], { cwd: directory });
  const left = readdirSync(directory).length > 0;
  rmSync(directory, { recursive: true });
  return left;
}

/** A bot that reports whether it has the secret, but not its value. */
const bot = `
require('node:http').createServer((request, response) => {
  if (request.url === '/bot') return response.end(JSON.stringify({ length: (process.env.CANARY || '').length }));
  response.end('{}');
}).listen(Number(process.env.PORT), process.env.BOT_HOST);
`;

describe('the value of a stored secret', () => {
  const own = mkdtempSync(join(tmpdir(), 'bothost-canary-owner-'));
  const responses: string[] = [];
  let service: CrashService;
  let temporary: string;

  beforeAll(async () => {
    const files = { 'package.json': '{"name": "finder", "main": "main.js"}', 'main.js': bot };
    service = await openCrashService({
      writeAgents: (directory) => {
        symlinkSync(join(root, 'packages'), join(directory, 'packages'));
        mkdirSync(join(directory, 'tmp'), { mode: 0o1777 });
        return [writeAgent(directory, 'finder', 'max_agents = 2', files)];
      },
      environment: { BOTHOST_LOG_LEVEL: 'trace' },
      command: `TMPDIR="$PWD/tmp"; export TMPDIR; ${startCommand}`,
    });
    temporary = join(service.directory, 'tmp');
  });
  afterAll(async () => {
    await service.remove();
    rmSync(own, { recursive: true, force: true });
  });

  async function ask(method: string, path: string, body?: unknown, key = service.privateKey): Promise<number | null> {
    const answer = await service.call(method, path, key, body);
    responses.push(JSON.stringify(answer));
    return answer?.status ?? null;
  }
  const one = (secretKey: string, secretValue = canary) => ({ secrets: [{ secretKey, secretValue }] });
  const isReady = async (name: string) =>
    JSON.stringify((await service.call('GET', `/v1/secrets/${name}`, service.privateKey))?.body).includes('"ready"');

  /** Sends bytes that no HTTP client would send; returns the whole response. */
  async function raw(bytes: string): Promise<void> {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.end(bytes);
    responses.push(await text(socket));
  }

  /**
   * Scans the arguments and environments of all processes for the value until the scan is stopped. Only a bot and its supervisor
   * (a shell that starts the bot with the same environment and account) may have the value.
   */
  function watchProcesses() {
    const found = { arguments: new Set<string>(), foreign: new Set<string>(), bots: new Set<string>() };
    const supervisors = new Map<string, { readonly instance: string; readonly account: string }>();
    const unnamed = new Set<string>();
    let isOver = false;
    const read = (path: string) => {
      try {
        return readFileSync(path);
      } catch {
        return Buffer.alloc(0);
      }
    };
    const isOwnAccount = (account: string) => process.getuid?.() !== 0 || account !== '0';
    const lookAt = (pid: string) => {
      const line = read(`/proc/${pid}/cmdline`);
      const words = line.toString().split('\0');
      const shown = words.join(' ').slice(0, 80);
      // While a process replaces its program, its command line is empty for a moment. Leave such a process to the next scan.
      if (line.length === 0 && !unnamed.has(pid)) return void unnamed.add(pid);
      if (holds(line)) found.arguments.add(shown);
      const environment = read(`/proc/${pid}/environ`);
      if (!holds(environment) || found.bots.has(pid)) return;
      const [, instance] = /(?:^|\0)BOTHOST_INSTANCE=([^\0]+)/.exec(environment.toString('latin1')) ?? [];
      const status = read(`/proc/${pid}/status`).toString();
      // The process has exited since its environment was read, so its status file in `/proc` is missing.
      if (instance !== undefined && status === '') return;
      const [, parent = ''] = /^PPid:\t(\d+)/m.exec(status) ?? [];
      const [, account = ''] = /^Uid:\t(\d+)/m.exec(status) ?? [];
      if (instance === undefined || !isOwnAccount(account)) return void found.foreign.add(shown);
      if (words[0] === '/bin/sh' && words[3] === 'bothost-supervisor')
        return void supervisors.set(pid, { instance, account });
      const supervisor = supervisors.get(parent);
      if (supervisor?.instance === instance && supervisor.account === account) found.bots.add(pid);
      else found.foreign.add(shown);
    };
    const watching = (async () => {
      for (; !isOver; await delay(5))
        readdirSync('/proc')
          .filter((name) => /^\d+$/.test(name))
          .forEach(lookAt);
    })();
    return {
      found,
      end: async () => {
        isOver = true;
        await watching;
      },
    };
  }

  /**
   * Runs the built `botcli` with the arguments `words`. `given` is its standard input or, in a terminal, the answer to its
   * prompt, which does not show what is typed. Returns the exit status.
   */
  async function botcli(words: string, given = '', where: 'in a terminal' | null = null): Promise<number | null> {
    const line = `"${process.execPath}" "${join(root, 'packages/cli/bin/botcli.js')}" ${words}`;
    const [program, ...rest] =
      where === null ? ['/bin/sh', '-c', line] : ['/usr/bin/script', '-qec', line, '/dev/null'];
    const env = {
      HOME: service.directory,
      TMPDIR: temporary,
      BOTCLI_API_URL: service.url,
      BOTCLI_TOKEN: service.privateKey,
    };
    const child = spawn(program ?? '', rest, { cwd: service.directory, env });
    let shown = '';
    let isGiven = false;
    const look = (chunk: Buffer) => {
      shown += chunk;
      if (where === null || isGiven || !shown.includes('(not shown): ')) return;
      isGiven = true;
      child.stdin.write(given);
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    if (where === null) child.stdin.end(given);
    const [status] = await once(child, 'close');
    responses.push(shown);
    return status;
  }

  /** Returns the files in the test's directory tree that contain at least one of the byte strings in `what`. */
  const filesWith = (what: readonly Buffer[]) =>
    readdirSync(service.directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && holds(readFileSync(join(entry.parentPath, entry.name)), what))
      .map((entry) => join(entry.parentPath, entry.name).slice(service.directory.length + 1));

  it('occurs in the environment of its bot and nowhere else', async ({ annotate }) => {
    if (!leavesCore(join(service.directory, 'crash')))
      await annotate(
        'This machine writes no core dump where a program runs: only the limit of the service is looked at.',
      );
    expect(readFileSync(`/proc/${service.current().pid}/limits`, 'utf8')).toMatch(/^Max core file size +0 +0 /m);
    const processes = watchProcesses();
    const log = () => readFileSync(service.logFile);

    expect(await ask('PUT', '/v1/secrets/bird-cage', one('CANARY'))).toBe(202);
    expect(await ask('PUT', '/v1/secrets/bird-cage', { ...one('CANARY', `${canary}x`), dryRun: true })).toBe(200);
    expect(await ask('PUT', '/v1/secrets/bird-cage', one('OTHER', `first ${canary}\nsecond ${canary}`))).toBe(202);
    expect(await ask('POST', '/v1/secrets/bird-cage/rollback', { revision: 1 })).toBe(202);
    expect(await ask('PUT', '/v1/secrets/bird-cage', one('SHORT', canary))).toBe(202);
    expect(await ask('DELETE', '/v1/secrets/bird-cage/SHORT')).toBe(200);
    const credential = Buffer.from(`user:${canary}`).toString('base64');
    const pull = { isImagePullSecret: true, host: 'ghcr.io', secretValue: credential };
    expect(await ask('PUT', '/v1/secrets/registry', pull)).toBe(202);

    // Invalid requests that contain the secret canary value in every place where a client could put it.
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

    await expect.poll(() => isReady('bird-cage'), { timeout: 20_000 }).toBe(true);
    expect(await ask('POST', '/v1/agents/finder', { secretSet: 'bird-cage' })).toBe(200);
    await expect
      .poll(async () => (await service.call('POST', '/v1/public/finder/start', service.publicKey, {}))?.status, {
        timeout: 30_000,
      })
      .toBe(200);
    await expect.poll(() => processes.found.bots.size, { timeout: 20_000 }).toBeGreaterThan(0);
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
    for (const path of ['/metrics', '/healthz', '/readyz'])
      responses.push(await (await fetch(service.url + path)).text());

    writeFileSync(join(own, 'values'), `KEY=${canary}\n`);
    const set = 'cloud secrets set --skip --wait';
    expect(await botcli(`${set} by-file --file ${join(own, 'values')}`)).toBe(0);
    expect(await botcli(`${set} by-input KEY=-`, canary)).toBe(0);
    expect(await botcli(`${set} by-prompt KEY`, `${canary}\r`, 'in a terminal')).toBe(0);
    for (const words of ['rotate root', 'rotate organization', 'verify'])
      expect(await botcli(`operator vault ${words} --token-file ${service.dataDirectory}/operator-token`)).toBe(0);

    const postmaster = Number(
      readFileSync(join(service.dataDirectory, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0],
    );
    const writes = [1, 2, 3].map((number) => ask('PUT', `/v1/secrets/falling-${number}`, one('A')));
    process.kill(postmaster, 'SIGQUIT');
    await Promise.all(writes);
    const last = ask('PUT', '/v1/secrets/last', one('A'));
    service.current().signal('SIGABRT');
    await Promise.all([service.current().exited, last]);
    expect(filesWith(forms)).toEqual([]);
    service.start();
    await service.ready();
    expect(await isReady('bird-cage')).toBe(true);
    await processes.end();
    await service.stopInOrder();

    expect(processes.found).toMatchObject({ arguments: new Set(), foreign: new Set() });
    expect(responses.filter((answer) => holds(Buffer.from(answer)))).toEqual([]);
    expect(filesWith(forms)).toEqual([]);
    expect(readdirSync(service.directory).filter((name) => name.startsWith('core'))).toEqual([]);
    // The name of a secret set is not secret. The database and the log contain it, so finding it there proves that the search
    // works.
    expect(filesWith([Buffer.from('bird-cage')]).filter((path) => path.startsWith('data/postgres'))).not.toEqual([]);
    expect(log().includes('bird-cage')).toBe(true);
  }, 180_000);
});
