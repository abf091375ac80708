import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ApiClient, createApiClient } from '../packages/contract/src/client.ts';
import { listLiveFiles } from '../packages/runtime/test/list-live-files.ts';
import { createBearerTokenHeaders } from '../packages/server/test/support/client.ts';
import { uploadAndBuildProject } from '../packages/server/test/support/deploys.ts';
import { findFreePort } from '../packages/server/test/support/free-port.ts';
import { createServiceProcess, type ServiceProcess } from '../packages/server/test/support/service-process.ts';
import { createTestDatabase } from '../packages/server/test/support/test-database.ts';
import { type BuiltService, botcliProgramPath, startBuiltService } from './built-service.ts';

const execute = promisify(execFile);

/**
 * A bot that returns its secret at `/secret`. A request to `/end` makes it write more output than the service keeps, and end its
 * session.
 */
const project = {
  'package.json': '{"main": "main.js"}',
  'main.js': `console.log('bot started');
    let held = null;
    require('node:http').createServer((request, response) => {
      const [, verb] = /^\\/(\\w+)/.exec(request.url);
      if (verb === 'bot') return void (held = response);
      if (verb === 'end') process.stdout.write('0123456789abcde\\n'.repeat(200_000), () => held.end('{}'));
      response.end(verb === 'secret' ? process.env.TOKEN : '');
    }).listen(Number(process.env.PORT), process.env.BOT_HOST);`,
};
const agentName = 'saved';
const params = { agentName };

let source: BuiltService;
let backup: string;
let endedId: string;
let liveId: string;
let endedLog: Awaited<ReturnType<typeof logOf>>;
let backedUpAt: number;

const clients = (origin: string, { privateKey, publicKey }: Pick<BuiltService, 'privateKey' | 'publicKey'>) => ({
  client: createApiClient({ origin, key: privateKey }),
  publicClient: createApiClient({ origin, key: publicKey }),
});

async function ask(origin: string, sessionId: string, path: string): Promise<string> {
  const url = `${origin}/v1/public/${agentName}/sessions/${sessionId}/${path}`;
  return (await fetch(url, createBearerTokenHeaders(source.publicKey))).text();
}

/** Returns the first and the last lines of a session's log. */
async function logOf(client: ApiClient, sessionId: string) {
  const read = async (order: 'asc' | 'desc') =>
    (await client.getLogs({ params, query: { sessionId, order, limit: 1_000 } })).logs;
  return { first: await read('asc'), last: await read('desc') };
}

/** Returns the length and the allocated disk space in bytes of the only output file in the data directory. */
async function storedOutput(dataDirectory: string) {
  const logs = join(dataDirectory, 'logs');
  const found = (await listLiveFiles(logs)).filter((path) => path.endsWith('/output'));
  expect(found).toHaveLength(1);
  const { size, blocks } = await stat(found[0] ?? '');
  return { size, usedBytes: blocks * 512 };
}

const stateOf = (client: ApiClient) => async () => (await client.getAgent({ params })).currentRevision?.phase ?? null;

const statusOf = (client: ApiClient, sessionId: string) => async () =>
  (await client.getSession({ params: { ...params, sessionId } })).completionStatus;

const eventually = (read: () => Promise<unknown>, expected: unknown) =>
  vi.waitFor(async () => expect(await read()).toBe(expected), { timeout: 60_000, interval: 100 });

beforeAll(async () => {
  source = await startBuiltService({ BOTHOST_LOG_SESSION_MB: '1' });
  const { origin } = source;
  const { client, publicClient } = clients(origin, source);
  await client.putSecrets({
    params: { setName: 'keys' },
    body: { secrets: [{ secretKey: 'TOKEN', secretValue: 'kept in a vault' }] },
  });
  const isDelivered = async () => (await client.getSecretSet({ params: { setName: 'keys' } })).status;
  await eventually(isDelivered, 'ready');
  const { id: buildId } = await uploadAndBuildProject({ client }, project);
  await client.createAgent({ body: { serviceName: agentName, buildId, secretSet: 'keys' } });
  await eventually(stateOf(client), 'Active');
  const start = async () => (await publicClient.startSession({ params })).sessionId ?? '';
  endedId = await start();
  await ask(origin, endedId, 'end');
  await eventually(statusOf(client, endedId), 'HTTP_COMPLETED');
  liveId = await start();
  expect(await ask(origin, liveId, 'secret')).toBe('kept in a vault');
  const logs = join(source.folder, 'data/logs');
  await eventually(async () => (await listLiveFiles(logs)).some((path) => path.endsWith('/output')), true);
  endedLog = await logOf(client, endedId);
  expect(endedLog.first[0]?.log).toBe('bot started');
  backup = join(source.folder, 'backup.tar');
  await botcli(['backup', backup, '--with-conversations', '--api-url', origin], {
    BOTHOST_DATA_DIR: join(source.folder, 'data'),
  });
  backedUpAt = Date.now();
}, 180_000);
afterAll(() => source.close());

function botcli(words: readonly string[], variables: Readonly<Record<string, string>> = {}) {
  const env = { ...source.environment, ...variables };
  return execute(process.execPath, [botcliProgramPath, 'operator', ...words], { env, cwd: source.folder });
}

/** Creates a service with its own directory, but does not start it. */
async function otherService(environment: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-restored-'));
  await chmod(directory, 0o711);
  const service = createServiceProcess({ directory, port: await findFreePort(), organization: 'home', environment });
  onTestFinished(async () => {
    for (const server of service.processes) server.signal('SIGTERM');
    await Promise.all(service.processes.map(({ exited }) => exited));
    await rm(directory, { recursive: true });
  });
  return service;
}

const restore = ({ dataDirectory }: ServiceProcess, file = backup) =>
  botcli(['restore', file], { BOTHOST_DATA_DIR: dataDirectory });

/** Starts the service, checks that the start fails, and returns the output. */
async function failedStart(service: ServiceProcess): Promise<string> {
  expect(await service.start().exited).toBe(1);
  return readFile(service.logFile, 'utf8');
}

async function restarted(service: ServiceProcess): Promise<void> {
  const server = service.start();
  await server.ready;
  expect(server.readyAt(), await readFile(service.logFile, 'utf8')).not.toBeNull();
}

async function stopped(service: ServiceProcess): Promise<void> {
  service.current().signal('SIGTERM');
  expect(await service.current().exited).toBe(0);
}

describe('operator backup', () => {
  it('creates a file that only its owner can read', async () => {
    expect((await stat(backup)).mode & 0o777).toBe(0o600);
    expect((await readdir(source.folder)).filter((name) => name.includes('partial'))).toEqual([]);
  });

  it('writes a complete archive to standard output', async () => {
    const { origin, folder } = source;
    const file = join(folder, 'piped.tar');
    const command = `botcli operator backup - --api-url ${origin} > ${file}`;
    const env = { ...source.environment, BOTHOST_DATA_DIR: join(folder, 'data') };
    await execute('/bin/sh', ['-c', command], { env });
    const service = await otherService();
    await restore(service, file);
    expect(await readdir(service.dataDirectory)).toEqual(['restore']);
  });
});

describe('operator restore', () => {
  it.each(['the embedded database', 'an external database'])(
    'restores all data on a service with %s',
    async (kind) => {
      const database = kind.startsWith('an') ? await createTestDatabase([]) : null;
      const service = await otherService(database === null ? {} : { DATABASE_URL: database.url });
      if (database !== null) onTestFinished(database.drop);
      await restore(service);
      await restarted(service);
      const { url, dataDirectory } = service;
      const { client, publicClient } = clients(url, source);
      expect(await readdir(dataDirectory)).not.toContain('restore');
      expect(await statusOf(client, endedId)()).toBe('HTTP_COMPLETED');
      expect(await logOf(client, endedId)).toEqual(endedLog);
      const { size, usedBytes } = await storedOutput(dataDirectory);
      expect(size).toBe((await storedOutput(join(source.folder, 'data'))).size);
      expect(usedBytes).toBeLessThan(2 * 1024 ** 2);
      expect(size).toBeGreaterThan(3_000_000);
      const lost = await client.getSession({ params: { ...params, sessionId: liveId } });
      expect(lost.completionStatus).toBe('HTTP_ERROR');
      expect(Date.parse(lost.endedAt ?? '')).toBeLessThan(backedUpAt);
      await eventually(stateOf(client), 'Active');
      const { sessionId = '' } = await publicClient.startSession({ params });
      expect(await ask(url, sessionId, 'secret')).toBe('kept in a vault');
      const verified = await botcli(['vault', 'verify', '--api-url', url], { BOTHOST_DATA_DIR: dataDirectory });
      expect(verified.stdout).toMatch(/verify\s+done/);
      expect(await client.verifyAudit()).toMatchObject({ ok: true });
      // Simulate a kill of the service after it restored the database and before it finished the restore.
      const sessions = async () => (await client.getSessions({ params, query: {} })).sessions.length;
      const before = await sessions();
      await stopped(service);
      await restoreAgain(service);
      await restarted(service);
      expect(await sessions()).toBe(before);
    },
    240_000,
  );

  /** Recreates the directory of the unpacked backup, without the files that the first restore moved to their final place. */
  async function restoreAgain({ dataDirectory }: ServiceProcess): Promise<void> {
    const unpacked = await otherService();
    await restore(unpacked);
    await rm(join(unpacked.dataDirectory, 'restore/files'), { recursive: true });
    await cp(join(unpacked.dataDirectory, 'restore'), join(dataDirectory, 'restore'), { recursive: true });
  }

  it('can be repeated after a kill, and until then the service refuses to start', async () => {
    const service = await otherService();
    const env = { ...source.environment, BOTHOST_DATA_DIR: service.dataDirectory };
    const child = spawn(process.execPath, [botcliProgramPath, 'operator', 'restore', '-'], { env });
    const bytes = await readFile(backup);
    child.stdin.on('error', () => undefined);
    child.stdin.write(bytes.subarray(0, bytes.length / 2));
    const unpacked = async (): Promise<string[]> =>
      readdir(join(service.dataDirectory, 'restore.partial')).catch(() => []);
    await eventually(async () => (await unpacked()).includes('database'), true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await failedStart(service)).toContain('A restore was interrupted. Run "botcli operator restore" again');
    await restore(service);
    expect(await readdir(service.dataDirectory)).toEqual(['restore']);
  }, 60_000);

  it('continues at the next start of the service if the service was killed during the restore', async () => {
    const service = await otherService();
    await restore(service);
    const server = service.start();
    const entries = async () =>
      (await readdir(join(service.dataDirectory, 'postgres/data')).catch(() => [])) as string[];
    await eventually(async () => (await entries()).includes('postmaster.pid'), true);
    server.signal('SIGKILL');
    await server.exited;
    expect(await readdir(service.dataDirectory)).toContain('restore');
    await restarted(service);
    const { client } = clients(service.url, source);
    expect(await statusOf(client, endedId)()).toBe('HTTP_COMPLETED');
    await eventually(stateOf(client), 'Active');
  }, 120_000);

  it('does not change a database that is not empty', async () => {
    const database = await createTestDatabase();
    onTestFinished(database.drop);
    const service = await otherService({ DATABASE_URL: database.url });
    await restore(service);
    expect(await failedStart(service)).toContain('The database is not empty');
    expect(await readdir(service.dataDirectory)).toContain('restore');
  }, 60_000);

  it.each([
    ['a truncated backup', (bytes: Buffer) => bytes.subarray(0, bytes.length - 4_096), 'backup is incomplete'],
    ['a damaged backup', (bytes: Buffer) => bytes.fill('x', 600, 610), 'not a bothost backup'],
    ['a backup with changed rows', changedRow, 'checksum does not match'],
    ['a file of another program', () => Buffer.from('nothing'), 'not a bothost backup'],
  ])('refuses an unusable file, %s, and leaves the data directory empty', async (_, change, message) => {
    const service = await otherService();
    const file = join(source.folder, 'changed.tar');
    await writeFile(file, change(await readFile(backup)));
    await expect(restore(service, file)).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
    expect(await readdir(service.dataDirectory)).toEqual([]);
  });

  it('refuses a data directory that is not empty', async () => {
    const refused = botcli(['restore', backup], { BOTHOST_DATA_DIR: join(source.folder, 'data') });
    await expect(refused).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') });
  });
});

function changedRow(bytes: Buffer): Buffer {
  const at = bytes.indexOf('"verbose_name":"home"');
  expect(at).toBeGreaterThan(0);
  return bytes.fill('x', at + 16, at + 20);
}
