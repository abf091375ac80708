import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createApiClient } from '@bothost/contract';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClientConfig } from '../../src/store/address.ts';
import { type BotProjectDirectory, writeBot } from '../support/bots.ts';
import {
  createBearerTokenHeaders,
  evaluateJavaScriptInBot,
  sessionUrl,
  startAgentSession,
  stopAgentSession,
} from '../support/client.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** Runs the built program until it exits, which it should do with an error. */
async function run(environment: Record<string, string>) {
  const { PATH, HOME } = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: environment['BOTHOST_DATA_DIR'] ?? '/' };
  const env = {
    PATH,
    HOME,
    BOTHOST_PORT: '0',
    BOTHOST_AGENTS: '',
    BOTCLI_CONFIG: join(HOME, 'cli.toml'),
    ...environment,
  };
  const ended = promisify(execFile)(process.execPath, [program], { env, timeout: 50_000 });
  return ended.then(
    () => ({ code: 0, stderr: '' }),
    (error: { code: number | null; stderr: string }) => ({ code: error.code, stderr: error.stderr }),
  );
}

describe.concurrent('a second server', () => {
  let service: TestServer;
  let embedded: TestServer;
  let bot: BotProjectDirectory;
  let elsewhere: string;
  const key = randomBytes(32).toString('hex');

  beforeAll(async () => {
    bot = await writeBot('first');
    elsewhere = await mkdtemp(join(tmpdir(), 'bothost-second-'));
    await chmod(elsewhere, 0o711);
    service = await startTestServer({ agents: [bot.path], environment: { BOTHOST_KEY: key } });
    embedded = await startTestServer({ agents: [bot.path], environment: { DATABASE_URL: '' } });
  });
  afterAll(async () => {
    await Promise.all([service.close(), embedded.close()]);
    await Promise.all([bot.remove(), rm(elsewhere, { recursive: true, force: true })]);
  });

  it('does not start in the region of the first server, and names that server in its error', async () => {
    const id = await startAgentSession(service, 'first');
    await evaluateJavaScriptInBot(service, 'first', id, 'true');
    const { code, stderr } = await run({
      BOTHOST_DATA_DIR: join(elsewhere, 'same-region'),
      DATABASE_URL: service.database.url,
    });
    expect(code).toBe(1);
    expect(stderr).toContain('Another server runs the bots of region us-west');
    expect(stderr).toContain(`data directory ${service.dataDirectory}`);
    expect(stderr).toContain(`process ${process.pid}`);
    // The message is one sentence, without a stack trace and without the database URL, which may contain a password.
    expect(stderr).not.toMatch(/\n +at |postgres(ql)?:\/\//);
    expect(await evaluateJavaScriptInBot(service, 'first', id, '"still here"')).toBe('still here');
    await stopAgentSession(service, 'first', id);
  });

  it('does not start on the data directory of the first server, whose database keeps running', async () => {
    const id = await startAgentSession(embedded, 'first');
    await evaluateJavaScriptInBot(embedded, 'first', id, 'true');
    const before = await readdir(embedded.dataDirectory);
    const { code, stderr } = await run({ BOTHOST_DATA_DIR: embedded.dataDirectory });
    expect(code).toBe(1);
    expect(stderr).toMatch(/Another server (uses|runs) /);
    expect(stderr).toContain(embedded.dataDirectory);
    expect(await readdir(embedded.dataDirectory)).toEqual(before);
    expect((await fetch(`${embedded.url}/readyz`)).status).toBe(200);
    expect(await evaluateJavaScriptInBot(embedded, 'first', id, '"still here"')).toBe('still here');
    await stopAgentSession(embedded, 'first', id);
  });

  it('does not start in another region without the root key of the first server', async () => {
    const { code, stderr } = await run({
      BOTHOST_DATA_DIR: join(elsewhere, 'other-key'),
      BOTHOST_REGION: 'eu-south',
      DATABASE_URL: service.database.url,
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/Secrets are encrypted with the root key [0-9a-f]+, but no root key is available/);
    expect(stderr).not.toMatch(/\n +at /);
    // The second server never ran in its region, so the region is not listed.
    const { regions } = await service.client.listRegions();
    expect(regions.map(({ code }) => code)).not.toContain('eu-south');
  });

  it('in another region does not forward requests to bots of the first server', async (test) => {
    const second = await startTestServer({
      agents: [],
      environment: { DATABASE_URL: service.database.url, BOTHOST_REGION: 'eu-west', BOTHOST_KEY: key },
    });
    test.onTestFinished(() => second.close());
    const id = await startAgentSession(service, 'first');
    await evaluateJavaScriptInBot(service, 'first', id, 'true');
    const refused = await fetch(sessionUrl(second, 'first', id, '/echo'), createBearerTokenHeaders(service.publicKey));
    expect([refused.status, await refused.json()]).toEqual([
      421,
      expect.objectContaining({ reason: 'session-elsewhere', error: expect.stringContaining('region us-west') }),
    ]);
    const missing = await fetch(sessionUrl(second, 'other', id, '/echo'), createBearerTokenHeaders(service.publicKey));
    expect(missing.status).toBe(404);
    await stopAgentSession(service, 'first', id);
  });

  it('runs in another region without stopping the bots of the first server', async (test) => {
    const second = await startTestServer({
      agents: [],
      environment: { DATABASE_URL: service.database.url, BOTHOST_REGION: 'eu-north', BOTHOST_KEY: key },
    });
    // Close the second server even if the test fails, so that a retry of the test does not find the region taken.
    test.onTestFinished(() => second.close());
    const id = await startAgentSession(service, 'first');
    await evaluateJavaScriptInBot(service, 'first', id, 'true');
    const refused = await fetch(`${second.url}/v1/public/first/start`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.publicKey}` },
    });
    expect([refused.status, await refused.json()]).toEqual([
      400,
      expect.objectContaining({ code: 'PCC-1001', reason: 'deployment-not-ready' }),
    ]);
    const { regions } = await service.client.listRegions();
    expect(regions.map(({ code }) => code)).toEqual(expect.arrayContaining(['eu-north', 'us-west']));
    await second.close();
    expect(await evaluateJavaScriptInBot(service, 'first', id, '"still here"')).toBe('still here');
    await stopAgentSession(service, 'first', id);
  });
});

describe('a server that lost the lock of its region to a second server, which then failed to start', () => {
  it('takes the lock again, keeps its bots and sessions, and starts new sessions', async (test) => {
    const key = randomBytes(32).toString('hex');
    const bot = await writeBot('kept');
    test.onTestFinished(() => bot.remove());
    const elsewhere = await mkdtemp(join(tmpdir(), 'bothost-second-'));
    test.onTestFinished(() => rm(elsewhere, { recursive: true, force: true }));
    await chmod(elsewhere, 0o711);
    const first = await startTestServer({ agents: [bot.path], environment: { BOTHOST_KEY: key } });
    test.onTestFinished(() => first.close());
    const id = await startAgentSession(first, 'kept');
    await evaluateJavaScriptInBot(first, 'kept', id, 'true');
    const admin = new pg.Client(createClientConfig(first.database.admin));
    await admin.connect();
    test.onTestFinished(() => admin.end());
    const locks = (granted: boolean) =>
      admin.query<{ pid: number }>(
        `select pid from pg_locks join pg_database on pg_database.oid = database
          where locktype = 'advisory' and datname = $1 and granted = $2`,
        [new URL(first.database.url).pathname.slice(1), granted],
      );
    // The second server waits for the lock of the region, gets it, and then fails, because its port is in use.
    const second = run({
      BOTHOST_DATA_DIR: join(elsewhere, 'data'),
      BOTHOST_KEY: key,
      BOTHOST_PORT: new URL(first.url).port,
      DATABASE_URL: first.database.url,
    });
    await expect.poll(async () => (await locks(false)).rowCount).toBe(1);
    for (const { pid } of (await locks(true)).rows) await admin.query('select pg_terminate_backend($1)', [pid]);
    expect(await second).toMatchObject({ code: 1, stderr: expect.stringContaining('is in use') });
    await expect.poll(async () => (await fetch(`${first.url}/readyz`)).status).toBe(200);
    const next = await startAgentSession(first, 'kept');
    expect(await evaluateJavaScriptInBot(first, 'kept', next, '"new"')).toBe('new');
    expect(await evaluateJavaScriptInBot(first, 'kept', id, '"still here"')).toBe('still here');
  });
});

describe('two servers with one database and the same key file', () => {
  it('share one root key, and neither creates another key while both are alive', async (test) => {
    const first = await startTestServer();
    test.onTestFinished(() => first.close());
    const directory = await mkdtemp(join(tmpdir(), 'bothost-copied-'));
    test.onTestFinished(() => rm(directory, { recursive: true, force: true }));
    await chmod(directory, 0o711);
    const keys = (of: string) => join(of, 'vault-keys');
    const data = join(directory, 'data');
    await cp(keys(first.dataDirectory), keys(data), { recursive: true });
    const second = await startTestServer({
      environment: { DATABASE_URL: first.database.url, BOTHOST_REGION: 'eu-north', BOTHOST_DATA_DIR: data },
    });
    test.onTestFinished(() => second.close());
    const operator = async (of: TestServer) => {
      const token = await readFile(join(of.dataDirectory, 'operator-token'), 'utf8');
      return createApiClient({ origin: of.url, key: token.trim() });
    };
    const before = await readdir(keys(first.dataDirectory));
    for (const [one, beside] of [
      [first, 'eu-north'],
      [second, 'us-west'],
    ] as const) {
      await expect((await operator(one)).rotateVault({ body: { layer: 'root' } })).rejects.toMatchObject({
        reason: 'root-key-not-shared',
        message: expect.stringContaining(beside),
      });
      expect(await readdir(keys(one.dataDirectory))).toEqual(before);
    }
    await first.client.putSecrets({
      params: { setName: 'keys' },
      body: { secrets: [{ secretKey: 'A', secretValue: 'one' }], region: 'eu-north' },
    });
    const state = async () => (await first.client.getSecretSet({ params: { setName: 'keys' } })).status;
    await expect.poll(state).toBe('ready');
  });
});
