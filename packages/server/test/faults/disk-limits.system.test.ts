import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ApiError } from '@bothost/contract';
import { expect, it, onTestFinished } from 'vitest';
import { writeBot } from '../support/bots.ts';
import {
  evaluateJavaScriptInBot,
  sendRawBytes,
  startAgentSession,
  stopAgentSession,
  waitForInstanceExit,
  waitForSessionEnd,
} from '../support/client.ts';
import { createVersionedBot, uploadAndBuildProject } from '../support/deploys.ts';
import { fillDisk, mountSmallDisk, mountSmallLoopDisk } from '../support/small-disk.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

const megabyte = 1024 * 1024;
const isRoot = process.geteuid?.() === 0;
const needsRoot = 'only root can mount a small disk';

async function open(environment: Record<string, string>, agents: Parameters<typeof writeBot>[] = []) {
  const bots = await Promise.all(agents.map((agent) => writeBot(...agent)));
  const service = await startTestServer({ agents: bots.map(({ path }) => path), environment });
  onTestFinished(async () => {
    await service.close();
    for (const bot of bots) await bot.remove();
  });
  return service;
}

const reasonOf = (request: Promise<unknown>): Promise<string> =>
  request.then(
    () => 'accepted',
    (error: unknown) => (error instanceof ApiError && error.status === 507 ? error.reason : String(error)),
  );

const readiness = async ({ url }: TestServer) => {
  const response = await fetch(`${url}/readyz`);
  const { missing = null } = (await response.json()) as { missing?: string };
  return { status: response.status, missing };
};

/** Uploads an archive without declaring its size and hash first, and returns the id of the upload. */
async function send({ client }: TestServer, bytes: Buffer): Promise<string> {
  const { uploadId, uploadUrl, uploadFields } = await client.getBuildUploadUrl({ body: { region: 'us-west' } });
  const form = new FormData();
  form.append('token', uploadFields.token);
  form.append('file', new Blob([new Uint8Array(bytes)], { type: 'application/gzip' }), 'context.tar.gz');
  expect((await fetch(uploadUrl, { method: 'POST', body: form })).status).toBe(200);
  return uploadId;
}

it('the service refuses starts, uploads and builds that would use the disk reserve, and keeps live sessions', async ({
  skip,
}) => {
  const disk = isRoot ? await mountSmallDisk(200) : skip(needsRoot);
  if (disk === null) return skip('this machine does not let root mount a tmpfs');
  const data = join(disk, 'data');
  const service = await open({ BOTHOST_DATA_DIR: data, BOTHOST_DISK_RESERVE_MB: '64' }, [
    ['steady'],
    ['open', { websocketAuth: 'none' }],
  ]);
  const live = await startAgentSession(service, 'steady');
  await evaluateJavaScriptInBot(service, 'steady', live, 'true');
  const announced = { region: 'us-west', contentHash: 'a'.repeat(64), sizeBytes: 4 };
  const { uploadUrl, uploadFields } = await service.client.getBuildUploadUrl({ body: announced });
  const uploadId = await send(service, randomBytes(10));
  const uploads = await readdir(join(data, 'builds/uploads'));

  const filler = await fillDisk(disk, 60 * megabyte);
  expect(await readiness(service)).toMatchObject({ status: 503, missing: expect.stringMatching(/reserve/) });
  expect(await reasonOf(startAgentSession(service, 'steady'))).toBe('storage-full');
  expect(await reasonOf(service.client.getBuildUploadUrl({ body: announced }))).toBe('storage-full');
  expect(await reasonOf(service.client.createBuild({ body: { uploadId, region: 'us-west' } }))).toBe('storage-full');
  const headers = { 'upload-token': uploadFields.token, 'upload-offset': '0' };
  const append = await fetch(uploadUrl, { method: 'PATCH', headers, body: 'data' });
  expect({ status: append.status, ...((await append.json()) as object) }).toMatchObject({
    status: 507,
    reason: 'storage-full',
  });
  expect(await readdir(join(data, 'builds/uploads'))).toEqual(uploads);
  const upgrade = [
    `GET /ws/generic/open.${service.organization} HTTP/1.1`,
    'Host: bots',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ];
  expect(await sendRawBytes(service, `${upgrade.join('\r\n')}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 507 /);
  expect(await evaluateJavaScriptInBot(service, 'steady', live, '"still here"')).toBe('still here');

  await rm(filler);
  expect(await readiness(service)).toMatchObject({ status: 200 });
  await stopAgentSession(service, 'steady', await startAgentSession(service, 'steady'));
});

/** Observes a file system until standard input ends, and then prints the smallest free space in bytes. */
const observer = `
  let least = Infinity;
  const timer = setInterval(() => {
    const { bavail, bsize } = require('node:fs').statfsSync(process.argv[1]);
    least = Math.min(least, bavail * bsize);
  }, 1);
  process.stdin.on('end', () => { clearInterval(timer); console.log(least); }).resume();`;

it('the service ends a bot that fills a 2 GiB disk at full speed, so that the free space stays above the disk reserve', async ({
  skip,
}) => {
  const disk = isRoot ? await mountSmallLoopDisk(2048) : skip(needsRoot);
  if (disk === null) return skip('this machine does not let root mount a loop device');
  const service = await open({ BOTHOST_DATA_DIR: join(disk, 'data'), BOTHOST_DISK_RESERVE_MB: '1024' }, [
    ['writer'],
    ['steady'],
  ]);
  const steady = await startAgentSession(service, 'steady');
  await evaluateJavaScriptInBot(service, 'steady', steady, 'true');
  const observing = spawn(process.execPath, ['-e', observer, disk], { stdio: ['pipe', 'pipe', 'inherit'] });
  const observed = text(observing.stdout);

  const writer = await startAgentSession(service, 'writer');
  const write = 'for i in 1 2 3 4; do dd if=/dev/zero of="$HOME/$i" bs=1M status=none & done; wait';
  await evaluateJavaScriptInBot(
    service,
    'writer',
    writer,
    `require('node:child_process').spawn('sh', ['-c', ${JSON.stringify(write)}], { stdio: 'ignore' }); true`,
  );
  const { completionStatus } = await waitForSessionEnd(service, 'writer', writer);
  observing.stdin.end();
  expect(completionStatus).toBe('HTTP_ERROR');
  expect(await waitForInstanceExit(service, 'writer', writer)).toMatchObject({
    signal: 'SIGKILL',
    diskLimit: 'The disk of the service is almost full, and this instance was writing the most to it.',
  });
  expect(Number(await observed)).toBeGreaterThanOrEqual(1024 * megabyte);

  await expect.poll(async () => (await readiness(service)).status).toBe(200);
  expect(await evaluateJavaScriptInBot(service, 'steady', steady, '"still here"')).toBe('still here');
  await evaluateJavaScriptInBot(service, 'writer', await startAgentSession(service, 'writer'), 'true');
}, 120_000);

it('the service names the disk limit in the events of a session and in the log of a build', async () => {
  const service = await open({ BOTHOST_INSTANCE_DISK_MB: '8', BOTHOST_BUILD_DISK_MB: '8' }, [['writer']]);
  const sessionId = await startAgentSession(service, 'writer');
  // The disk use may be measured while this file is being written.
  const write = `require('node:fs').writeFileSync(process.env.HOME + '/large', Buffer.alloc(${20 * megabyte}, 1))`;
  await evaluateJavaScriptInBot(service, 'writer', sessionId, `${write}; true`);
  expect(await waitForInstanceExit(service, 'writer', sessionId)).toMatchObject({
    diskLimit: expect.stringMatching(/^The instance used (?:9|\d\d) MiB of disk space\. An instance may use 8 MiB\.$/),
  });

  const files = {
    ...createVersionedBot('1'),
    'package.json': JSON.stringify({ main: 'main.js', scripts: { build: 'node build.js' } }),
    'build.js': `${write}; setInterval(() => undefined, 1000)`,
  };
  const build = await uploadAndBuildProject(service, files);
  expect(build).toMatchObject({ status: 'failed', errorCode: 'prepare-failed' });
  expect(build.errorMessage).toMatch(/^The build used (?:9|\d\d) MiB of disk space\. A build may use 8 MiB\.$/);
  const { logs } = await service.client.getBuildLogs({ params: { buildId: build.id }, query: {} });
  expect(logs.join('\n')).toContain(build.errorMessage);
});

it('the service refuses uploads and builds of an organization above its disk limit', async () => {
  const service = await open({ BOTHOST_ORGANIZATION_DISK_MB: '1' });
  const announce = (sizeBytes: number) =>
    service.client.getBuildUploadUrl({ body: { region: 'us-west', contentHash: 'b'.repeat(64), sizeBytes } });
  expect(await reasonOf(announce(2 * megabyte))).toBe('organization-storage-full');
  const uploadId = await send(service, randomBytes(2 * megabyte));
  expect(await reasonOf(service.client.createBuild({ body: { uploadId, region: 'us-west' } }))).toBe(
    'organization-storage-full',
  );
  expect(await reasonOf(announce(1))).toBe('organization-storage-full');
});
