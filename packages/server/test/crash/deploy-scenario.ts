import { createHash, randomBytes } from 'node:crypto';
import { type EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentDetails, Build } from '@bothost/contract';
import { createArchive } from '../support/archive.ts';
import { createVersionedBot } from '../support/deploys.ts';
import type { CrashService } from './crash-service.ts';

export type DeployAttempt = {
  readonly version: string;
  readonly files: readonly { readonly path: string; readonly body: string | Buffer }[];
  readonly bytes: Buffer;
  readonly contentHash: string;
  readonly isBroken: boolean;
  buildId: string | null;
  readonly problems: string[];
};

const agent = 'versioned';
const region = 'us-west';
/** Files that make the upload take so long that kills can happen during it. */
const paddingFiles = 20;
const paddingBytes = 100_000;
/** Bytes and milliseconds between two parts of an upload. */
const pieceBytes = 250_000;
const pieceMs = 5;
/** Time limit in milliseconds, after which a deploy counts as lost. */
const timeoutMs = 60_000;
const pollMs = 10;

/** Creates a project with a new archive. In every fourth project, the bot does not start. */
export function createDeployAttempt(number: number): DeployAttempt {
  const isBroken = number % 4 === 3;
  const version = `${number}`;
  const sources = Object.entries(createVersionedBot(version, isBroken ? 'process.exit(3);' : ''));
  const files = [
    ...sources.map(([path, body]) => ({ path, body })),
    ...Array.from({ length: paddingFiles }, (_, index) => ({
      path: `files/${index}`,
      body: randomBytes(paddingBytes),
    })),
  ];
  const bytes = createArchive(...files);
  return { version, files, bytes, contentHash: hashOf(bytes), isBroken, buildId: null, problems: [] };
}

/**
 * Uploads, builds and deploys a project, and waits for the result. `events` emits `upload`, `create-build` and
 * `create-deployment` before each such request.
 */
export async function runDeploy(service: CrashService, deploy: DeployAttempt, events: EventEmitter): Promise<void> {
  await service.ready();
  const uploadId = await uploadArchive(service, deploy.bytes, events);
  events.emit('create-build');
  deploy.buildId = await createBuild(service, uploadId);
  await checkBuild(service, deploy, uploadId);

  events.emit('create-deployment');
  const path = `/v1/agents/${agent}`;
  const known = await service.request('GET', path);
  const deployed =
    known.status === 404
      ? await service.request<{ reason?: string }>('POST', '/v1/agents', {
          body: { serviceName: agent, region, buildId: deploy.buildId },
        })
      : await service.request<{ reason?: string }>('POST', path, { body: { buildId: deploy.buildId } });
  // If a first request created the agent but its response was lost, the retry reports that the agent exists.
  const exists = deployed.status === 400 && deployed.body.reason === 'agent-exists';
  if (deployed.status !== 200 && !exists)
    deploy.problems.push(`its deployment was answered ${JSON.stringify(deployed)}`);

  const read = async () => (await service.request<AgentDetails>('GET', path)).body;
  const isSettled = ({ desiredDeploymentId: desired, reconciledDeploymentId: reconciled }: AgentDetails) =>
    desired !== undefined && desired === reconciled;
  const { activeDeploymentReady, errors, deployment } = await readUntil(read, isSettled);
  if (deployment?.buildId !== deploy.buildId) deploy.problems.push(`another build is desired: ${deployment?.buildId}`);
  const codes = (errors ?? []).map(({ code }) => code).join();
  if (`${activeDeploymentReady} ${codes}` !== (deploy.isBroken ? 'false PCC_BOT_EXITED' : 'true '))
    deploy.problems.push(`it ended as ${JSON.stringify({ activeDeploymentReady, errors })}`);
}

/** Uploads an archive in parts, and resumes after a kill at the offset that the service reports. Returns the upload's id. */
export async function uploadArchive(service: CrashService, bytes: Buffer, events?: EventEmitter): Promise<string> {
  type Upload = { uploadId: string; uploadUrl: string; uploadFields: { token: string }; receivedBytes: number };
  for (;;) {
    events?.emit('upload');
    const body = { region, contentHash: hashOf(bytes), sizeBytes: bytes.length };
    const { body: upload } = await service.request<Upload>('POST', '/v1/builds/upload-url', { body });
    const { number } = service.current();
    if (upload.receivedBytes === bytes.length) return upload.uploadId;
    const headers = { 'upload-token': upload.uploadFields.token, 'upload-offset': upload.receivedBytes };
    const sending = request(upload.uploadUrl, { method: 'PATCH', headers, agent: false });
    const responding = once(sending, 'response').catch(() => null);
    for (let at = upload.receivedBytes; at < bytes.length && !sending.destroyed; at += pieceBytes) {
      sending.write(bytes.subarray(at, at + pieceBytes));
      await delay(pieceMs);
    }
    sending.end();
    const response = await responding;
    if (response === null) await service.ready(number);
    else if (response[0].statusCode !== 200) throw new Error(`The upload was answered ${response[0].statusCode}.`);
    else return upload.uploadId;
  }
}

export async function createBuild(service: CrashService, uploadId: string): Promise<string> {
  const { body } = await service.request<{ build: Build }>('POST', '/v1/builds', { body: { uploadId, region } });
  return body.build.id;
}

/** Waits for the build, and checks its files and that it is built only once. */
async function checkBuild(service: CrashService, deploy: DeployAttempt, uploadId: string): Promise<void> {
  const { buildId, contentHash, problems } = deploy;
  const path = `/v1/builds/${buildId}`;
  const read = async () => (await service.request<{ build: Build }>('GET', path)).body.build;
  const build = await readUntil(read, ({ completedAt }) => completedAt !== null);
  if (build.status !== 'success' || build.contentHash !== contentHash || build.errorMessage !== null)
    problems.push(`its build ended as ${JSON.stringify(build)}`);
  const project = join(service.dataDirectory, 'projects', `${buildId}`);
  const wrong = deploy.files.filter(({ path, body }) => !readFileSync(join(project, path)).equals(Buffer.from(body)));
  problems.push(...wrong.map(({ path }) => `its file ${path} has wrong content`));
  const body = { uploadId, region };
  const again = await service.request<{ cached: boolean; build: Build }>('POST', '/v1/builds', { body });
  if (!again.body.cached || again.body.build.id !== buildId)
    problems.push(`its content was built again: ${JSON.stringify(again.body)}`);
}

async function readUntil<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  const begun = Date.now();
  for (;;) {
    const value = await read();
    if (holds(value) || Date.now() - begun > timeoutMs) return value;
    await delay(pollMs);
  }
}

/** Runs one session after another during deploys and kills. Returns the versions that responded, in order. */
export function keepStartingSessions(service: CrashService): { readonly over: () => Promise<readonly string[]> } {
  const met: string[] = [];
  let isOver = false;
  async function talk(): Promise<void> {
    while (!isOver) {
      await service.ready();
      const { number } = service.current();
      const started = await service.call('POST', `/v1/public/${agent}/start`, service.publicKey, {});
      const { sessionId } = (started?.body ?? {}) as { sessionId?: string };
      if (started !== null && started.status !== 200)
        met.push(`start: ${started.status} ${JSON.stringify(started.body)}`);
      if (sessionId !== undefined) {
        const url = `${service.url}/v1/public/${agent}/sessions/${sessionId}/version`;
        const headers = { authorization: `Bearer ${service.publicKey}` };
        const response = await fetch(url, { headers }).catch(() => null);
        const text = await response?.text().catch(() => null);
        if (response?.status === 200 && typeof text === 'string') met.push(text);
        await service.call('DELETE', `/v1/agents/${agent}/sessions/${sessionId}`, service.privateKey);
      }
      if (service.current().exitedAt() !== null) await service.ready(number);
    }
  }
  const done = talk();
  return {
    over: async () => {
      isOver = true;
      await done;
      return met;
    },
  };
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
