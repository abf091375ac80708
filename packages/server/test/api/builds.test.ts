import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type ApiClient, type Build, createApiClient } from '@bothost/contract';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createArchive } from '../support/archive.ts';
import { insertSecondOrganization } from '../support/second-organization.ts';
import { createUniqueName } from '../support/unique-name.ts';
import { useSecondOrganization, useTestServer } from '../support/use-test-server.ts';

const region = 'us-west';

const service = await useTestServer();
const client = service.client;
const neighbours = await useSecondOrganization(service);

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex');

let made = 0;
function project(more: Parameters<typeof createArchive> = []): Buffer {
  made += 1;
  return createArchive(
    { path: 'package.json', body: JSON.stringify({ name: `bot-${made}`, type: 'module' }) },
    { path: 'index.js', body: `// ${made}\n` },
    ...more,
  );
}

type Upload = Awaited<ReturnType<ApiClient['getBuildUploadUrl']>>;

const begin = (bytes: Buffer) =>
  client.getBuildUploadUrl({ body: { region, contentHash: sha256(bytes), sizeBytes: bytes.length } });
const append = (upload: Upload, offset: number, body: Buffer, token = upload.uploadFields.token) =>
  fetch(upload.uploadUrl, {
    method: 'PATCH',
    headers: { 'upload-token': token, 'upload-offset': String(offset) },
    body: new Uint8Array(body),
  });
const look = (upload: Upload) =>
  fetch(upload.uploadUrl, { method: 'HEAD', headers: { 'upload-token': upload.uploadFields.token } });

async function send(bytes: Buffer): Promise<string> {
  const upload = await begin(bytes);
  const answer = await append(upload, upload.receivedBytes, bytes.subarray(upload.receivedBytes));
  expect(await answer.json()).toEqual({ uploadId: upload.uploadId, receivedBytes: bytes.length, complete: true });
  return upload.uploadId;
}

/** Creates the form of an upload with all fields before the file, as existing clients send it. */
function form(fields: Record<string, string>, file: Buffer): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  data.append('Content-Type', 'application/gzip');
  data.append('file', new Blob([new Uint8Array(file)], { type: 'application/gzip' }), 'context.tar.gz');
  return data;
}

async function over(id: string): Promise<Build> {
  for (let nextToken: string | undefined = '0'; nextToken !== undefined; ) {
    ({ nextToken } = await client.getBuildLogs({ params: { buildId: id }, query: { nextToken, wait: 20 } }));
  }
  return (await client.getBuild({ params: { buildId: id } })).build;
}

async function build(bytes: Buffer): Promise<Build> {
  const { build } = await client.createBuild({ body: { uploadId: await send(bytes), region } });
  return over(build.id);
}

async function logOf(buildId: string): Promise<string[]> {
  const { logs } = await client.getBuildLogs({ params: { buildId } });
  return logs.map((line) => line.replace(/^\S+ /, ''));
}

const reason = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing',
    (error: { reason?: string }) => error.reason,
  );
const reasonOf = async (answer: Promise<Response>) => {
  const response = await answer;
  return { status: response.status, ...((await response.json()) as { reason: string; error: string }) };
};

describe('a build', () => {
  it('unpacks and prepares an uploaded project, and logs these steps', async () => {
    const bytes = project([{ path: '.env', body: 'SECRET=1' }]);
    const created = await client.createBuild({ body: { uploadId: await send(bytes), region } });
    expect(created).toMatchObject({ cached: false, contextHash: md5(bytes).slice(0, 16) });
    const done = await over(created.build.id);
    expect(done).toMatchObject({
      status: 'success',
      region,
      contextHash: md5(bytes).slice(0, 16),
      contentHash: sha256(bytes),
      contextSizeBytes: bytes.length,
      dockerfilePath: 'Dockerfile',
      errorMessage: null,
      errorCode: null,
      imageUri: null,
    });
    expect(done.completedAt).not.toBeNull();
    const log = await logOf(done.id);
    expect(log).toEqual(
      expect.arrayContaining([
        expect.stringContaining(sha256(bytes)),
        expect.stringMatching(/^\.env is left out/),
        expect.stringMatching(/^Unpacked 2 files/),
        expect.stringMatching(/^Ready after/),
      ]),
    );
    const { logs } = await client.getBuildLogs({ params: { buildId: done.id } });
    expect(logs.every((line) => /^\d{4}-\d\d-\d\dT[\d:.]+Z /.test(line))).toBe(true);
    expect(readdirSync(join(service.dataDirectory, 'builds', 'trees'))).toEqual([]);
  });

  it('is created only once for the same content: a second request returns 200 instead of 201', async () => {
    const bytes = project();
    const first = await build(bytes);
    const again = await begin(bytes);
    expect(again.receivedBytes).toBe(bytes.length);
    const answer = await fetch(`${service.url}/v1/builds`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.privateKey}` },
      body: JSON.stringify({ uploadId: again.uploadId, region }),
    });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ cached: true, build: { id: first.id, status: 'success' } });
    const other = await client.createBuild({ body: { uploadId: await send(project()), region } });
    expect(other.build.id).not.toBe(first.id);
  });

  it('is created only once by three concurrent requests with the same content', async () => {
    const uploadId = await send(project());
    const created = await Promise.all([1, 2, 3].map(() => client.createBuild({ body: { uploadId, region } })));
    expect(new Set(created.map((one) => one.build.id)).size).toBe(1);
    await over(created[0]?.build.id ?? '');
  });

  it('fails with a reason for a malicious archive, leaves no files, and can be requested again', async () => {
    const bytes = createArchive({ path: '../../etc/cron.d/x', body: 'x' });
    const failed = await build(bytes);
    expect(failed).toMatchObject({
      status: 'failed',
      errorCode: 'archive-path-outside',
      errorMessage: 'An entry of the archive leads out of the project with "..": ../../etc/cron.d/x.',
    });
    expect(await logOf(failed.id)).toContain(failed.errorMessage);
    expect(readdirSync(join(service.dataDirectory, 'builds', 'trees'))).toEqual([]);
    const again = await build(bytes);
    expect(again.status).toBe('failed');
    expect(again.id).not.toBe(failed.id);
  });

  it('fails with a message for a project without an entry point', async () => {
    const failed = await build(createArchive({ path: 'readme.txt', body: `nothing to start ${made++}` }));
    expect(failed).toMatchObject({ status: 'failed', errorCode: 'prepare-failed' });
    expect(failed.errorMessage).toMatch(/\S/);
  });

  it('is listed, newest first, with filters and pages', async () => {
    const first = await build(project());
    const second = await build(project());
    const all = await client.listBuilds({ query: { limit: 2 } });
    expect(all.builds.map(({ id }) => id)).toEqual([second.id, first.id]);
    expect(all).toMatchObject({ limit: 2, offset: 0 });
    const next = await client.listBuilds({ query: { limit: 1, cursor: `${all.nextCursor}` } });
    expect(next.builds.map(({ id }) => id)).not.toContain(first.id);
    const shifted = await client.listBuilds({ query: { limit: 1, offset: 1 } });
    expect(shifted.builds.map(({ id }) => id)).toEqual([first.id]);
    const byHash = { contextHash: first.contextHash, status: 'success', limit: 1 } as const;
    expect((await client.listBuilds({ query: byHash })).builds.map(({ id }) => id)).toEqual([first.id]);
    const failed = await client.listBuilds({ query: { contentHash: first.contentHash, status: 'failed' } });
    expect(failed).toMatchObject({ builds: [], total: 0, nextCursor: null });
    expect((await client.listBuilds({ query: { region: 'elsewhere' } })).total).toBe(0);
    expect(await reason(client.listBuilds({ query: { cursor: 'x' } }))).toBe('invalid-request');
  });

  it('has a log that can be paged', async () => {
    const done = await build(project());
    const all = await client.getBuildLogs({ params: { buildId: done.id } });
    expect(all.nextToken).toBeUndefined();
    const pieces: string[] = [];
    let nextToken: string | undefined;
    do {
      const query = { limit: 1, ...(nextToken === undefined ? {} : { nextToken }) };
      const piece = await client.getBuildLogs({ params: { buildId: done.id }, query });
      pieces.push(...piece.logs);
      nextToken = piece.nextToken;
    } while (nextToken !== undefined);
    expect(pieces).toEqual(all.logs);
    const params = { buildId: done.id };
    expect(await reason(client.getBuildLogs({ params, query: { nextToken: 'x' } }))).toBe('invalid-request');
  });

  it('is stored again for another organization that uploads the same content', async () => {
    const bytes = project();
    const uploadId = await send(bytes);
    const other = createApiClient({ origin: service.url, key: neighbours.privateKey });
    const announced = { region, contentHash: sha256(bytes), sizeBytes: bytes.length };
    const own = await other.getBuildUploadUrl({ body: announced });
    expect(own).toMatchObject({ receivedBytes: 0 });
    expect(own.uploadId).not.toBe(uploadId);
  });
});

describe('an upload', () => {
  it('accepts a multipart form, and sets contextHash of the build to the start of the MD5 hash of the archive', async () => {
    const bytes = project();
    const upload = await client.getBuildUploadUrl({ body: { region } });
    const answer = await fetch(upload.uploadUrl, { method: 'POST', body: form(upload.uploadFields, bytes) });
    expect(answer.status).toBe(200);
    const { build } = await client.createBuild({ body: { uploadId: upload.uploadId, region, dockerfilePath: 'D' } });
    expect(build).toMatchObject({ contextHash: md5(bytes).slice(0, 16), dockerfilePath: 'D' });
    expect((await over(build.id)).status).toBe('success');
    const retry = await fetch(upload.uploadUrl, { method: 'POST', body: form(upload.uploadFields, bytes) });
    expect(retry.status).toBe(200);
    const other = fetch(upload.uploadUrl, { method: 'POST', body: form(upload.uploadFields, project()) });
    expect(await reasonOf(other)).toMatchObject({ status: 400, reason: 'upload-content-wrong' });
  });

  it('resumes where its connection was lost', async () => {
    const bytes = project([
      { path: 'large', body: Buffer.from(Array.from({ length: 400_000 }, () => Math.random() * 256)) },
    ]);
    const upload = await begin(bytes);
    const half = Math.floor(bytes.length / 2);
    const broken = request(upload.uploadUrl, {
      method: 'PATCH',
      headers: { 'upload-token': upload.uploadFields.token, 'upload-offset': '0', 'content-length': bytes.length },
    });
    broken.on('error', () => undefined);
    broken.write(bytes.subarray(0, half));
    const path = join(service.dataDirectory, 'builds', 'uploads', upload.uploadId);
    await expect.poll(() => (existsSync(path) ? statSync(path).size : 0)).toBeGreaterThan(0);
    broken.destroy();
    expect(await reason(client.createBuild({ body: { uploadId: upload.uploadId, region } }))).toBe('upload-incomplete');
    const again = await begin(bytes);
    expect(again.uploadId).toBe(upload.uploadId);
    const there = await look(again);
    expect(there.headers.get('upload-length')).toBe(String(bytes.length));
    const offset = Number(there.headers.get('upload-offset'));
    expect(offset).toBeLessThanOrEqual(half);
    expect(await reasonOf(append(again, offset + 1, bytes.subarray(offset + 1)))).toMatchObject({
      status: 409,
      reason: 'upload-offset-wrong',
    });
    const piece = await append(again, offset, bytes.subarray(offset, offset + 1_000));
    expect(await piece.json()).toMatchObject({ receivedBytes: offset + 1_000, complete: false });
    const rest = await append(again, offset + 1_000, bytes.subarray(offset + 1_000));
    expect(await rest.json()).toMatchObject({ receivedBytes: bytes.length, complete: true });
    const { build } = await client.createBuild({ body: { uploadId: upload.uploadId, region } });
    expect((await over(build.id)).status).toBe('success');
  });

  it('closes its earlier connection when it is resumed on a new connection', async () => {
    const bytes = project();
    const upload = await begin(bytes);
    const hanging = request(upload.uploadUrl, {
      method: 'PATCH',
      headers: { 'upload-token': upload.uploadFields.token, 'upload-offset': '0', 'content-length': bytes.length },
    });
    const ended = new Promise((resolve) => hanging.on('close', resolve));
    hanging.on('error', () => undefined);
    hanging.write(bytes.subarray(0, 10));
    const path = join(service.dataDirectory, 'builds', 'uploads', upload.uploadId);
    await expect.poll(() => existsSync(path)).toBe(true);
    // Neither a request with a wrong token nor a request for a new upload URL closes the connection of the running upload.
    expect((await look({ ...upload, uploadFields: { token: 'x' } })).status).toBe(403);
    expect(hanging.destroyed).toBe(false);
    await begin(bytes);
    expect(hanging.destroyed).toBe(false);
    // Requests for one upload are serialized even if they spell its id differently.
    const shouted = { ...upload, uploadUrl: upload.uploadUrl.replace(upload.uploadId, upload.uploadId.toUpperCase()) };
    const offset = Number((await look(shouted)).headers.get('upload-offset'));
    await ended;
    expect((await append(upload, offset, bytes.subarray(offset))).status).toBe(200);
  });

  it('is discarded if its content does not match the declared hash, and can be sent again', async () => {
    const bytes = project();
    const upload = await begin(bytes);
    const wrong = Buffer.from(bytes);
    wrong[20] = (wrong[20] ?? 0) ^ 1;
    expect(await reasonOf(append(upload, 0, wrong))).toMatchObject({ status: 400, reason: 'upload-content-wrong' });
    expect((await look(upload)).headers.get('upload-offset')).toBe('0');
    expect((await append(upload, 0, bytes)).status).toBe(200);
  });

  it('accepts the hash of the decompressed archive, whose compression depends on the platform', async () => {
    const bytes = project();
    const contentHash = sha256(gunzipSync(bytes));
    const announce = (archive: Buffer) =>
      client.getBuildUploadUrl({ body: { region, contentHash, sizeBytes: archive.length } });
    const upload = await announce(bytes);
    expect((await append(upload, 0, bytes)).status).toBe(200);
    const retry = await fetch(upload.uploadUrl, { method: 'POST', body: form(upload.uploadFields, bytes) });
    expect(retry.status).toBe(200);
    const { build } = await client.createBuild({ body: { uploadId: upload.uploadId, region } });
    expect(await over(build.id)).toMatchObject({ status: 'success', contentHash });
    const uncompressed = gzipSync(gunzipSync(bytes), { level: 0 });
    const other = await announce(uncompressed);
    expect(other.receivedBytes).toBe(0);
    expect((await append(other, 0, uncompressed)).status).toBe(200);
    const again = await client.createBuild({ body: { uploadId: other.uploadId, region } });
    expect(again).toMatchObject({ cached: true, build: { id: build.id } });
  });

  it('is refused if it decompresses to more than a build accepts', async () => {
    const zeros = Buffer.alloc(64 * 1_048_576);
    const bytes = gzipSync(zeros);
    const body = { region, contentHash: sha256(zeros), sizeBytes: bytes.length };
    const upload = await client.getBuildUploadUrl({ body });
    const refusal = await reasonOf(append(upload, 0, bytes));
    expect(refusal).toMatchObject({ status: 400, reason: 'upload-content-wrong' });
    expect(refusal.error).toContain('grows to more than 200 times its size');
  });

  it('is refused with 413 if it is larger than declared', async () => {
    const bytes = project();
    const upload = await begin(bytes);
    const longer = Buffer.concat([bytes, Buffer.alloc(10)]);
    expect(await reasonOf(append(upload, 0, longer))).toMatchObject({ status: 413, reason: 'archive-too-large' });
    const muchLonger = Buffer.concat([bytes, Buffer.alloc(20_000_000)]);
    expect(await reasonOf(append(upload, 0, muchLonger))).toMatchObject({ status: 413 });
    const posted = fetch(upload.uploadUrl, { method: 'POST', body: form(upload.uploadFields, longer) });
    expect(await reasonOf(posted)).toMatchObject({ status: 413, reason: 'archive-too-large' });
    const size = 500 * 1_048_576 + 1;
    const announced = client.getBuildUploadUrl({ body: { region, contentHash: sha256(bytes), sizeBytes: size } });
    expect(await reason(announced)).toBe('invalid-request');
    const half = client.getBuildUploadUrl({ body: { region, contentHash: sha256(bytes) } });
    expect(await reason(half)).toBe('invalid-request');
  });

  it('restores a build whose files and archive were lost', async () => {
    const bytes = project();
    const first = await build(bytes);
    const { uploadId } = await begin(bytes);
    const projects = join(service.dataDirectory, 'projects');
    const ofBuild = () => readdirSync(projects).filter((name) => name.includes(first.id));
    await rm(join(service.dataDirectory, 'builds', 'uploads', uploadId));
    for (const name of ofBuild()) await rm(join(projects, name), { recursive: true });
    expect(await begin(bytes)).toMatchObject({ uploadId, receivedBytes: 0 });
    expect(await build(bytes)).toMatchObject({ id: first.id, status: 'success' });
    expect(existsSync(join(projects, first.id, 'index.js'))).toBe(true);
  });

  it('must be sent again if its archive was lost', async () => {
    const bytes = project();
    const uploadId = await send(bytes);
    await rm(join(service.dataDirectory, 'builds', 'uploads', uploadId));
    expect(await reason(client.createBuild({ body: { uploadId, region } }))).toBe('upload-incomplete');
    expect(await begin(bytes)).toMatchObject({ uploadId, receivedBytes: 0 });
    expect(await send(bytes)).toBe(uploadId);
    expect((await build(bytes)).status).toBe('success');
  });

  it('requires the token that was issued for it', async () => {
    const bytes = project();
    const upload = await begin(bytes);
    const other = await begin(project());
    const [exp = ''] = upload.uploadFields.token.split('.');
    for (const token of ['', 'x', `${exp}.x`, other.uploadFields.token, service.privateKey]) {
      expect(await reasonOf(append(upload, 0, bytes, token))).toMatchObject({ reason: 'upload-token-invalid' });
      const posted = fetch(upload.uploadUrl, { method: 'POST', body: form({ token }, bytes) });
      expect(await reasonOf(posted)).toMatchObject({ status: 403, reason: 'upload-token-invalid' });
    }
    const gone = upload.uploadUrl.replace(upload.uploadId, '00000000-0000-7000-8000-000000000000');
    expect((await fetch(gone, { method: 'HEAD' })).status).toBe(403);
    expect(existsSync(join(service.dataDirectory, 'builds', 'uploads', upload.uploadId))).toBe(false);
  });

  it.each([
    ['no form', { body: 'text' }],
    ['a form without a boundary', { body: 'text', headers: { 'content-type': 'multipart/form-data' } }],
    ['an incomplete form', { body: '--x\r\nContent-', headers: { 'content-type': 'multipart/form-data; boundary=x' } }],
    ['a form without a file', { body: new FormData() }],
  ])('is refused if it is %s', async (_, init) => {
    const upload = await client.getBuildUploadUrl({ body: { region } });
    const answer = await reasonOf(fetch(upload.uploadUrl, { method: 'POST', ...init }));
    expect(answer).toMatchObject({ status: 400, reason: 'upload-form-invalid' });
    expect(await reason(client.createBuild({ body: { uploadId: upload.uploadId, region } }))).toBe('upload-incomplete');
  });

  it('cannot be sent in several requests if its total size was not declared', async () => {
    const upload = await client.getBuildUploadUrl({ body: { region } });
    expect(await reasonOf(append(upload, 0, project()))).toMatchObject({ status: 409, reason: 'upload-not-resumable' });
    const empty = fetch(upload.uploadUrl, { method: 'POST', body: form(upload.uploadFields, Buffer.alloc(0)) });
    expect(await reasonOf(empty)).toMatchObject({ status: 400, reason: 'upload-form-invalid' });
    const put = await fetch(upload.uploadUrl, { method: 'PUT', body: 'x' });
    expect(put.status).toBe(405);
    expect(put.headers.get('allow')).toBe('HEAD, PATCH, POST');
    expect(await reasonOf(fetch(upload.uploadUrl, { method: 'PATCH', body: 'x' }))).toMatchObject({
      reason: 'invalid-request',
    });
  });

  it('is refused if the organization has a hundred uploads without a build', async () => {
    const crowd = await insertSecondOrganization(service, createUniqueName('crowd'));
    onTestFinished(crowd.close);
    const other = createApiClient({ origin: service.url, key: crowd.privateKey });
    const asked = await Promise.all(
      Array.from({ length: 130 }, () => reason(other.getBuildUploadUrl({ body: { region } }))),
    );
    expect(asked).toContain('nothing');
    expect(await reason(other.getBuildUploadUrl({ body: { region } }))).toBe('too-many-uploads');
    expect(await reason(client.getBuildUploadUrl({ body: { region } }))).toBe('nothing');
  });

  it('is refused for a region that another server serves', async () => {
    expect(await reason(client.getBuildUploadUrl({ body: { region: 'us-east' } }))).toBe('region-unknown');
    const uploadId = await send(project());
    expect(await reason(client.createBuild({ body: { uploadId, region: 'us-east' } }))).toBe('region-unknown');
  });
});
