import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { version } from '../src/version.ts';
import { buildBotcli } from './build-botcli.ts';
import { startFakeService } from './fake-service/fake-service.ts';
import { agentListItem, organization, privateKey, publicKey } from './fake-service/records.ts';

/** The tests run a fresh build of the shipped program as a process. */
const directory = await buildBotcli();
const service = await startFakeService(
  { privateKey, publicKey },
  {
    listAgents: () => ({ services: [agentListItem], agents: [agentListItem] }),
    listOrganizations: () => ({ organizations: [organization] }),
  },
);
afterAll(async () => {
  await service.close();
  await rm(directory, { recursive: true, force: true });
});

type ProcessResult = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
};

type RunOptions = {
  readonly stdin?: string;
  readonly interruptOn?: Promise<unknown>;
  /** Closes the read end of the standard output pipe before the program writes to it. */
  readonly deaf?: boolean;
  readonly token?: string;
};

function botcli(args: readonly string[], given: RunOptions = {}): Promise<ProcessResult> {
  const env = { HOME: directory, BOTCLI_API_URL: service.origin, BOTCLI_TOKEN: given.token ?? privateKey };
  const child = spawn(process.execPath, [join(directory, 'bin/botcli.js'), ...args], { env, cwd: directory });
  const seen = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    seen.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    seen.stderr += chunk;
  });
  if (given.deaf) child.stdout.destroy();
  child.stdin.end(given.stdin ?? '');
  void given.interruptOn?.then(() => child.kill('SIGINT'));
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (code, signal) => resolve({ code, signal, ...seen }));
  });
}

test('the built program needs no other files and returns the documented exit statuses', async () => {
  expect(await botcli(['--version'])).toEqual({ code: 0, signal: null, stdout: `botcli ${version}\n`, stderr: '' });
  expect(await botcli(['cloud', 'agnt'])).toMatchObject({ code: 2, stdout: '' });
  const listed = await botcli(['cloud', 'agent', 'list']);
  expect(listed).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/\nparrot\tus-west\t/) });
  expect((await botcli(['cloud', 'agent', 'list', '--api-url', 'http://127.0.0.1:1'])).code).toBe(1);
});

test('the built program sends the key that an earlier login stored', async () => {
  const refused = await botcli(['cloud', 'auth', 'login', '--with-token', '--json'], { stdin: 'sk_wrong\n' });
  expect(refused.code).toBe(1);
  expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: '401', reason: 'key-invalid' } });
  const login = await botcli(['cloud', 'auth', 'login', '--with-token'], { stdin: `${privateKey}\n`, token: '' });
  expect(login).toMatchObject({ code: 0, stderr: expect.stringContaining('keys create NAME --kind public --default') });
  expect(await botcli(['cloud', 'agent', 'list'], { token: '' })).toMatchObject({ code: 0 });
});

test('the built program exits with 130 and prints one JSON document after SIGINT during a request', async () => {
  const silent = createServer((socket) => socket.on('error', () => {}));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const address = silent.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  const asked = new Promise<void>((resolve) =>
    silent.once('connection', (socket) => socket.once('data', () => resolve())),
  );
  const ended = await botcli(['cloud', 'agent', 'list', '--json', '--api-url', url], { interruptOn: asked });
  silent.close();
  expect(ended).toMatchObject({ code: 130, signal: null });
  expect(JSON.parse(ended.stdout)).toMatchObject({ error: { reason: 'interrupted' } });
});

test.each(['--help', '--version'])(
  'the built program exits with 0 when the reader of the output of botcli %s closes the pipe',
  async (line) => {
    expect(await botcli([line], { deaf: true })).toEqual({ code: 0, signal: null, stdout: '', stderr: '' });
  },
);

test('the built program exits with 1 and names the error when it cannot write to standard output', async () => {
  const child = spawn(
    '/bin/sh',
    ['-c', '"$0" "$1" cloud agent list > /dev/full', process.execPath, join(directory, 'bin/botcli.js')],
    {
      env: { HOME: directory, BOTCLI_API_URL: service.origin, BOTCLI_TOKEN: privateKey },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  expect({ stderr, status }).toEqual({ stderr: 'error: Cannot write to standard output (ENOSPC).\n', status: 1 });
});

test('--version loads no file outside of bin/', async () => {
  const alone = join(directory, 'alone');
  await cp(join(directory, 'bin'), join(alone, 'bin'), { recursive: true });
  const child = spawn(process.execPath, [join(alone, 'bin/botcli.js'), '--version'], { env: {} });
  expect(await text(child.stdout)).toBe(`botcli ${version}\n`);
});

test('--version prints a JSON document if BOTCLI_OUTPUT is json', async () => {
  const env = { HOME: directory, BOTCLI_OUTPUT: 'json' };
  const child = spawn(process.execPath, [join(directory, 'bin/botcli.js'), '--version'], { env });
  expect(JSON.parse(await text(child.stdout))).toEqual({ version });
});

test('in a deleted working directory, only commands that use the directory fail', async () => {
  const enterDeleted = 'mkdir deleted && cd deleted && rmdir ../deleted && exec "$0" "$1/bin/botcli.js"';
  const run = async (args: string) => {
    const child = spawn('/bin/sh', ['-c', `${enterDeleted} ${args}`, process.execPath, directory], { cwd: directory });
    const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    return { stderr, status };
  };
  expect(await run('--version')).toEqual({ stderr: '', status: 0 });
  expect(await run('init quickstart')).toEqual({
    stderr: 'error: The current directory no longer exists.\nChange to another directory with cd.\n',
    status: 1,
  });
});
