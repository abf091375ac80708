import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeAsRoot } from '../../../runtime/test/root.ts';
import { type BotProjectDirectory, writeBot } from '../support/bots.ts';
import { evaluateJavaScriptInBot, startAgentSession } from '../support/client.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

/**
 * What a bot must not reach of the service. The conformance tests of the runtime drivers test what a bot must not reach of another
 * bot. These tests need root, because a service of an ordinary user runs all bots under that user's account.
 */
describeAsRoot('a hostile bot, on a service that runs as root', () => {
  let service: TestServer;
  let bot: BotProjectDirectory;
  let sessionId: string;

  beforeAll(async () => {
    bot = await writeBot('spy');
    service = await startTestServer({ agents: [bot.path], environment: { DATABASE_URL: '' } });
    sessionId = await startAgentSession(service, 'spy');
  });
  afterAll(async () => {
    await service.close();
    await bot.remove();
  });

  const evaluate = <T>(code: string) => evaluateJavaScriptInBot<T>(service, 'spy', sessionId, code);
  /** Returns the result of each attempt: the error code, or `done`. */
  async function attempt(actions: readonly string[]) {
    const results: [string, string][] = [];
    for (const action of actions)
      results.push([
        action,
        await evaluate(
          `const fs = require('node:fs'); (async () => { try { await (${action}); return 'done'; } catch (error) { return error.code ?? String(error); } })()`,
        ),
      ]);
    return results;
  }
  const read = (path: string) => `fs.readFileSync(${JSON.stringify(path)})`;
  const connect = (target: object) =>
    `new Promise((resolve, reject) => require('node:net').connect(${JSON.stringify(target)}).on('connect', resolve).on('error', reject))`;

  it('cannot read or write the files of the service, and cannot read or kill its process', async () => {
    const data = service.dataDirectory;
    const files = ['key', 'postgres/data/PG_VERSION', 'postgres/data/pg_hba.conf', 'postgres/data/postmaster.pid'];
    const directories = ['.', 'postgres', 'instances', 'projects'].map((name) => join(data, name));
    const denied = [
      ...[...files, 'postgres/postgres.log'].map((name) => read(join(data, name))),
      ...directories.map((path) => `fs.readdirSync(${JSON.stringify(path)})`),
      ...directories.map((path) => `fs.writeFileSync(${JSON.stringify(join(path, 'x'))}, '')`),
      ...['environ', 'mem'].map((file) => read(`/proc/${process.pid}/${file}`)),
    ];
    expect(await attempt(denied)).toEqual(denied.map((action) => [action, 'EACCES']));
    const kill = `process.kill(${process.pid}, 'SIGKILL')`;
    expect(await attempt([kill])).toEqual([[kill, 'EPERM']]);
  });

  it('cannot connect to the database', async () => {
    // In postmaster.pid, line 4 is the port and line 5 the directory of the socket (PostgreSQL documentation, section 67.1).
    const lines = readFileSync(join(service.dataDirectory, 'postgres/data/postmaster.pid'), 'utf8').split('\n');
    const socket = { path: join(lines[4] ?? '', `.s.PGSQL.${lines[3]}`) };
    const results = await attempt([connect(socket), connect({ host: '127.0.0.1', port: Number(lines[3]) })]);
    expect(results.map(([, code]) => code)).toEqual([expect.stringMatching(/^(EACCES|ENOENT)$/), 'ECONNREFUSED']);
  });

  it('has no setting of the service in its environment', async () => {
    const environment = await evaluate<Record<string, string>>('process.env');
    expect(
      Object.keys(environment).filter((name) =>
        /^(BOTHOST_(?!(INSTANCE|CONVERSATION_FILE|RECORDING_FILE|LIMIT_SESSION_LOG)$)|DATABASE|PG|npm_|VITEST)/.test(
          name,
        ),
      ),
    ).toEqual([]);
    const text = JSON.stringify(environment) + (await evaluate<string>('process.argv.join()'));
    const key = readFileSync(join(service.dataDirectory, 'key'), 'utf8').trim();
    for (const secret of [service.privateKey, service.publicKey, key]) expect(text).not.toContain(secret);
    const open = await evaluate<string[]>(
      `require('node:fs').readdirSync('/proc/self/fd').flatMap((fd) => { try { return [require('node:fs').readlinkSync('/proc/self/fd/' + fd)] } catch { return [] } })`,
    );
    expect(open.filter((target) => target.includes('postgres') || target.endsWith('/key'))).toEqual([]);
  });
});
