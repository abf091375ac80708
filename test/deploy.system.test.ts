import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type RunOptions, runProgram } from '../packages/cli/test/run-program.ts';
import { createBearerTokenHeaders } from '../packages/server/test/support/client.ts';
import { startTestServer, type TestServer } from '../packages/server/test/support/test-server.ts';

/** Tests botcli over a connection to the service that the tests can interrupt. */
let service: TestServer;
let line: Line;
let place: string;
let folder: string;
let name = '';
let count = 0;

beforeAll(async () => {
  line = await openLine();
  service = await startTestServer({ environment: { BOTHOST_PUBLIC_URL: line.url } });
  line.to = Number(new URL(service.url).port);
  place = await mkdtemp(join(tmpdir(), 'deploys-'));
});
afterAll(async () => {
  await service.close();
  line.server.close();
  await rm(place, { recursive: true, force: true });
});
beforeEach(async () => {
  line.breakAfter = null;
  line.onPassed = () => {};
  count += 1;
  name = `bot-${count}`;
  folder = join(place, name);
  await mkdir(folder);
  await put({
    'deploy.toml': `agent_name = "${name}"\n`,
    'package.json': '{"main": "bot.js"}',
    'bot.js': bot('one'),
  });
});

const bot = (word: string) => `
  require('node:http')
    .createServer((request, response) => request.url === '/bot' || response.end('${word}'))
    .listen(Number(process.env.PORT), process.env.BOT_HOST);
`;

async function put(files: Readonly<Record<string, string | Buffer>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) await writeFile(join(folder, path), content);
}

const cloud = (words: string, given: RunOptions = {}) =>
  runProgram(['cloud', ...words.split(' ')], {
    directory: folder,
    variables: {
      BOTCLI_API_URL: line.url,
      BOTCLI_TOKEN: service.privateKey,
      BOTCLI_CONFIG: join(place, 'config.toml'),
    },
    ...given,
  });

async function answerOfSession(): Promise<string> {
  const { sessionId } = await service.publicClient.startSession({ params: { agentName: name } });
  const url = `${service.url}/v1/public/${name}/sessions/${sessionId}/word`;
  return (await fetch(url, createBearerTokenHeaders(service.publicKey))).text();
}

type Line = {
  readonly url: string;
  readonly server: Server;
  to: number;
  breakAfter: number | null;
  passed: number;
  onPassed: () => void;
};

/** A TCP proxy in front of the service. Closes each connection once the client has sent `breakAfter` bytes (null: never). */
async function openLine(): Promise<Line> {
  const server = createServer((client) => {
    const target = connect(opened.to, '127.0.0.1');
    let sent = 0;
    client.on('data', (chunk) => {
      sent += chunk.length;
      opened.passed += chunk.length;
      opened.onPassed();
      if (opened.breakAfter === null || sent < opened.breakAfter) return;
      client.destroy();
      target.destroy();
    });
    client.pipe(target).pipe(client);
    for (const [socket, other] of [
      [client, target],
      [target, client],
    ] as const) {
      socket.on('error', () => {}).on('close', () => other.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const opened: Line = {
    url: `http://127.0.0.1:${port}`,
    server,
    to: 0,
    breakAfter: null,
    passed: 0,
    onPassed: () => {},
  };
  return opened;
}

test('botcli cloud deploy moves new sessions to the new code, and changes nothing for an unchanged project', async () => {
  expect(await cloud('deploy --yes')).toMatchObject({ status: 0 });
  expect(await answerOfSession()).toBe('one');
  const before = await service.client.listDeployments({ params: { agentName: name } });
  expect(JSON.parse((await cloud('deploy --json')).stdout)).toMatchObject({ change: 'none' });
  expect((await service.client.listDeployments({ params: { agentName: name } })).total_count).toBe(before.total_count);
  await put({ 'bot.js': bot('two') });
  const { status, stderr } = await cloud('deploy --yes');
  expect(status).toBe(0);
  expect(stderr).toContain('1 live session stays on the current version');
  expect(await answerOfSession()).toBe('two');
  expect(await cloud(`agent rollback ${name} --yes`)).toMatchObject({ status: 0 });
  expect(await answerOfSession()).toBe('one');
  const deleted = await cloud(`agent delete ${name} --yes`);
  expect(deleted.stdout).toContain('Sessions still running\t3\n');
  expect(await cloud(`agent status ${name}`)).toMatchObject({ status: 1 });
});

test('botcli completes an upload over a connection that breaks repeatedly', async () => {
  await put({ 'voice.bin': randomBytes(3_000_000) });
  line.breakAfter = 700_000;
  const outcome = await cloud('deploy --yes');
  line.breakAfter = null;
  expect(outcome).toMatchObject({ status: 0 });
  expect(await answerOfSession()).toBe('one');
});

test('botcli resumes an upload that Ctrl-C interrupted', async () => {
  await put({ 'voice.bin': randomBytes(6_000_000) });
  const interruption = new AbortController();
  const before = line.passed;
  line.onPassed = () => {
    if (line.passed - before > 1_000_000) interruption.abort();
  };
  expect((await cloud('deploy --yes', { signal: interruption.signal })).status).toBe(130);
  line.onPassed = () => {};
  const sent = line.passed;
  const again = await cloud('deploy --yes');
  expect(again).toMatchObject({ status: 0, stderr: expect.stringContaining('Resuming an earlier upload') });
  expect(line.passed - sent).toBeLessThan(5_500_000);
});

test('botcli cloud deploy exits with 1 and keeps the serving deployment if the build or the bot fails', async () => {
  expect((await cloud('deploy --yes')).status).toBe(0);
  await put({ 'package.json': '{"main": "none.js"}' });
  const unbuilt = JSON.parse((await cloud('deploy --yes --json')).stdout);
  expect(unbuilt.error).toMatchObject({ reason: expect.stringMatching(/^(?:build|deployment)-failed$/) });
  await put({ 'package.json': '{"main": "bot.js"}', 'bot.js': 'console.log("no voice"); process.exitCode = 3;' });
  const broken = await cloud('deploy --yes');
  expect(broken).toMatchObject({ status: 1, stderr: expect.stringContaining('\n  no voice\n') });
  expect(broken.stderr).toContain('keeps serving');
  expect(await answerOfSession()).toBe('one');
  const { stdout } = await cloud(`agent status ${name}`);
  expect(stdout).toContain(`Roll back\tbotcli cloud agent rollback ${name} --to`);
});

test('botcli cloud deploy prints the message of an error response', async () => {
  await put({ 'deploy.toml': `agent_name = "${name}"\nsecret_set = "keys"\n` });
  expect(await cloud('deploy --yes')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('botcli cloud secrets set keys '),
  });
  await put({ 'deploy.toml': `agent_name = "${name}"\nregion = "moon"\n` });
  expect(await cloud('deploy --yes')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('Region "moon" does not exist.'),
  });
  expect(await cloud(`agent rollback ${name} --yes`)).toMatchObject({ status: 1 });
});
