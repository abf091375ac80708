import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeAsRoot } from '../../../runtime/test/root.ts';
import { type BotProjectDirectory, writeBot } from '../support/bots.ts';
import { evaluateJavaScriptInBot, startAgentSession } from '../support/client.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

/** These tests need root, because a service of an ordinary user runs all bots under that user's account. */
describeAsRoot('a hostile bot, on a service that runs as root', () => {
  let service: TestServer;
  let bots: BotProjectDirectory[];
  let spy: string;
  let victim: string;

  beforeAll(async () => {
    bots = [await writeBot('spy'), await writeBot('victim')];
    service = await startTestServer({ agents: bots.map((bot) => bot.path), environment: { DATABASE_URL: '' } });
    spy = await startAgentSession(service, 'spy');
    victim = await startAgentSession(service, 'victim');
  });
  afterAll(async () => {
    await service.close();
    await Promise.all(bots.map((bot) => bot.remove()));
  });

  /** Returns the result of an attempt: the error code, or `done`. */
  const attempt = (code: string) =>
    evaluateJavaScriptInBot(
      service,
      'spy',
      spy,
      `const fs = require('node:fs'); (async () => { try { await (${code}); return 'done'; } catch (error) { return error.code ?? String(error); } })()`,
    );
  const connect = (target: string) =>
    attempt(
      `new Promise((resolve, reject) => require('node:net').connect(${target}).on('connect', resolve).on('error', reject))`,
    );
  const read = (path: string) => attempt(`fs.readFileSync(${JSON.stringify(path)})`);

  it('cannot read the key file or the files of the database', async () => {
    const data = service.dataDirectory;
    const paths = [
      join(data, 'key'),
      join(data, 'postgres/data/PG_VERSION'),
      join(data, 'postgres/data/pg_hba.conf'),
      join(data, 'postgres/data/postmaster.pid'),
      join(data, 'postgres/postgres.log'),
    ];
    for (const path of paths) expect([path, await read(path)]).toEqual([path, 'EACCES']);
    for (const path of [data, join(data, 'postgres'), join(data, 'instances'), join(data, 'projects')]) {
      expect([path, await attempt(`fs.readdirSync(${JSON.stringify(path)})`)]).toEqual([path, 'EACCES']);
      expect([path, await attempt(`fs.writeFileSync(${JSON.stringify(join(path, 'x'))}, '')`)]).toEqual([
        path,
        'EACCES',
      ]);
    }
  });

  it('cannot connect to the database', async () => {
    // In postmaster.pid, line 4 is the port and line 5 the directory of the socket (PostgreSQL documentation, section 67.1).
    const lines = readFileSync(join(service.dataDirectory, 'postgres/data/postmaster.pid'), 'utf8').split('\n');
    const socket = join(lines[4] ?? '', `.s.PGSQL.${lines[3]}`);
    expect(await connect(JSON.stringify({ path: socket }))).toMatch(/^(EACCES|ENOENT)$/);
    expect(await connect(JSON.stringify({ host: '127.0.0.1', port: Number(lines[3]) }))).toBe('ECONNREFUSED');
  });

  it("cannot connect to another bot's Unix socket", async () => {
    const path = await evaluateJavaScriptInBot<string>(service, 'victim', victim, 'process.env.BOT_SOCKET');
    expect(await connect(JSON.stringify({ path }))).toBe('EACCES');
  });

  it('cannot read or kill another bot or the service', async () => {
    const own = await evaluateJavaScriptInBot<Record<'home' | 'project', string> & Record<'pid' | 'parent', number>>(
      service,
      'victim',
      victim,
      `require('node:fs').writeFileSync(process.env.HOME + '/note', 'mine');
       ({ home: process.env.HOME, project: process.cwd(), pid: process.pid, parent: process.ppid })`,
    );
    const paths = [
      join(own.home, 'note'),
      join(own.project, 'main.js'),
      join(own.home, '../log/output'),
      `/proc/${own.pid}/environ`,
      `/proc/${own.pid}/mem`,
      `/proc/${own.pid}/cwd/main.js`,
      `/proc/${own.parent}/environ`,
      `/proc/${process.pid}/environ`,
      `/proc/${process.pid}/mem`,
    ];
    for (const path of paths) expect([path, await read(path)]).toEqual([path, 'EACCES']);
    for (const pid of [own.pid, own.parent, process.pid]) {
      expect([pid, await attempt(`process.kill(${pid}, 'SIGKILL')`)]).toEqual([pid, 'EPERM']);
    }
    expect(await evaluateJavaScriptInBot(service, 'victim', victim, '"still here"')).toBe('still here');
  });

  it('has no setting of the service in its environment', async () => {
    const environment = await evaluateJavaScriptInBot<Record<string, string>>(service, 'spy', spy, 'process.env');
    expect(
      Object.keys(environment).filter((name) => /^(BOTHOST_(?!INSTANCE$)|DATABASE|PG|npm_|VITEST)/.test(name)),
    ).toEqual([]);
    const text =
      JSON.stringify(environment) + (await evaluateJavaScriptInBot<string>(service, 'spy', spy, 'process.argv.join()'));
    const secrets = [
      service.privateKey,
      service.publicKey,
      readFileSync(join(service.dataDirectory, 'key'), 'utf8').trim(),
    ];
    for (const secret of secrets) expect(text).not.toContain(secret);
    const open = await evaluateJavaScriptInBot<string[]>(
      service,
      'spy',
      spy,
      `require('node:fs').readdirSync('/proc/self/fd').flatMap((fd) => { try { return [require('node:fs').readlinkSync('/proc/self/fd/' + fd)] } catch { return [] } })`,
    );
    expect(open.filter((target) => target.includes('postgres') || target.endsWith('/key'))).toEqual([]);
  });
});
