import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { type ApiClient, ConnectionError, createApiClient } from '@bothost/contract';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createSeededRandom } from '../../../runtime/test/random.ts';
import { createArchive } from '../support/archive.ts';
import { findFreePort } from '../support/free-port.ts';
import { createServiceProcess, type ServiceProcess } from '../support/service-process.ts';

const region = 'us-west';
const kills = Math.ceil(inject('kills') / 4);
const random = createSeededRandom(inject('killSeed'));

let directory: string;
let service: ServiceProcess;
let client: ApiClient;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bothost-kill-builds-'));
  await chmod(directory, 0o711);
  service = createServiceProcess({ directory, agents: [], port: await findFreePort() });
  service.start();
  await service.ready();
  client = createApiClient({ origin: service.url, key: service.privateKey });
});
afterAll(async () => {
  const server = service.current();
  server.signal('SIGTERM');
  await server.exited;
  await rm(directory, { recursive: true, force: true });
});

async function restart(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const server = service.current();
  server.signal(signal);
  await server.exited;
  service.start();
  await service.ready();
}

/** Retries a request while the server is killed, as a client would. */
async function retry<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const isAway = error instanceof ConnectionError || (error instanceof Error && /503|database/.test(error.message));
      if (!isAway) throw error;
      await delay(50);
    }
  }
}

type Upload = Awaited<ReturnType<ApiClient['getBuildUploadUrl']>>;

/** Sends the rest of an upload in parts. Returns false if the connection was lost. */
async function sendRest(upload: Upload, bytes: Buffer): Promise<boolean> {
  const { uploadFields, uploadUrl, receivedBytes } = upload;
  const headers = { 'upload-token': uploadFields.token, 'upload-offset': receivedBytes };
  const sent = request(uploadUrl, { method: 'PATCH', headers, agent: false });
  const answered = once(sent, 'response').then(async ([response]) => ({
    status: response.statusCode as number,
    body: await text(response),
  }));
  answered.catch(() => undefined);
  for (let at = receivedBytes; at < bytes.length && !sent.destroyed; at += 500_000) {
    sent.write(bytes.subarray(at, at + 500_000));
    await delay(5);
  }
  sent.end();
  const answer = await answered.catch(() => null);
  if (answer !== null) expect(answer).toMatchObject({ status: 200 });
  return answer !== null;
}

it(`the server never loses an upload or build and never shows a partial build when it is killed ${kills} times`, {
  timeout: 60_000 + kills * 15_000,
}, async () => {
  let resumed = 0;
  let takenUp = 0;
  for (let round = 0; round < kills; round++) {
    const content = randomBytes(4_000_000);
    const entries = Array.from({ length: 40 }, (_, index) => ({
      path: `files/${index}`,
      body: content.subarray(index * 100_000, (index + 1) * 100_000),
    }));
    const bytes = createArchive({ path: 'package.json', body: '{}' }, { path: 'index.js', body: '' }, ...entries);
    const contentHash = createHash('sha256').update(bytes).digest('hex');
    const step = random.pick(['upload', 'create', 'build', 'build'] as const);

    let killing: Promise<void> = Promise.resolve();
    const killIn = (milliseconds: number) => {
      killing = delay(milliseconds).then(() => restart('SIGKILL'));
    };
    if (step === 'upload') killIn(random.below(80));
    let uploadId = '';
    for (let isThere = false; !isThere; ) {
      const upload = await retry(() =>
        client.getBuildUploadUrl({ body: { region, contentHash, sizeBytes: bytes.length } }),
      );
      if (upload.receivedBytes > 0 && upload.receivedBytes < bytes.length) resumed += 1;
      uploadId = upload.uploadId;
      isThere = upload.receivedBytes === bytes.length || (await sendRest(upload, bytes));
      if (!isThere) await killing;
    }
    if (step === 'create') killIn(random.below(10));
    const { build } = await retry(() => client.createBuild({ body: { uploadId, region } }));
    if (step === 'build') killIn(random.below(250));
    const projects = join(service.dataDirectory, 'projects', build.id);
    const over = async () => {
      const found = await retry(() => client.getBuild({ params: { buildId: build.id } }));
      return found.build.completedAt === null ? null : found.build;
    };
    let done = await over();
    while (done === null) {
      await delay(20);
      done = await over();
    }
    await killing;
    expect(done).toMatchObject({ status: 'success', contentHash, errorMessage: null });
    for (const { path, body } of entries) expect((await readFile(join(projects, path))).equals(body)).toBe(true);
    const { logs } = await retry(() => client.getBuildLogs({ params: { buildId: build.id } }));
    if (logs.some((line) => line.includes('restarted'))) takenUp += 1;
    const again = await retry(() => client.createBuild({ body: { uploadId, region } }));
    expect(again).toMatchObject({ cached: true, build: { id: build.id } });
  }
  const { total, builds } = await client.listBuilds({ query: { limit: 100 } });
  expect(total).toBe(kills);
  expect(builds.every(({ status }) => status === 'success')).toBe(true);
  expect(readdirSync(join(service.dataDirectory, 'builds/trees'))).toEqual([]);
  expect(readdirSync(join(service.dataDirectory, 'builds/uploads'))).toHaveLength(kills);
  expect(existsSync(service.logFile)).toBe(true);
  const log = await readFile(service.logFile, 'utf8');
  expect(log).not.toMatch(/\d{10}\.[A-Za-z0-9_-]{43}/);
  process.stdout.write(
    `seed ${inject('killSeed')}: ${service.processes.length} processes, ${resumed} uploads resumed, ${takenUp} builds taken up\n`,
  );
});

it('the server marks a build failed after two kills, and restarts a build after an orderly stop', async () => {
  const script = "echo begun; perl -e 'truncate(STDOUT,16*1024**4-8192)'; sleep 1000";
  const bytes = createArchive(
    { path: 'package.json', body: JSON.stringify({ main: 'index.js', scripts: { build: script } }) },
    { path: 'index.js', body: '' },
  );
  const contentHash = createHash('sha256').update(bytes).digest('hex');
  const upload = await client.getBuildUploadUrl({ body: { region, contentHash, sizeBytes: bytes.length } });
  expect(await sendRest(upload, bytes)).toBe(true);
  const { build } = await client.createBuild({ body: { uploadId: upload.uploadId, region } });
  const params = { buildId: build.id };
  const starts = async () => {
    const { logs } = await client.getBuildLogs({ params });
    return logs.filter((line) => line.endsWith(' begun')).length;
  };
  const show = async () => (await client.getBuild({ params })).build;
  for (const [index, signal] of (['SIGTERM', 'SIGKILL', 'SIGTERM', 'SIGKILL'] as const).entries()) {
    await expect.poll(starts).toBe(index + 1);
    await restart(signal);
  }
  await expect.poll(async () => (await show()).status).toBe('failed');
  expect(await show()).toMatchObject({ errorCode: 'build-interrupted' });
  expect(await starts()).toBe(4);
});
