import { createHash, randomBytes } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { createArchive } from '../support/archive.ts';
import { createVersionedBot } from '../support/deploys.ts';
import type { ApiResponse, ServiceProcess } from '../support/service-process.ts';

export type DeployAttempt = {
  readonly version: string;
  readonly contentHash: string;
  readonly isBroken: boolean;
  buildId: string | null;
  readonly problems: string[];
};

export type DeployContext = {
  readonly service: ServiceProcess;
  /** Emits `upload`, `create-build` or `create-deployment` before each such request. */
  readonly events: EventEmitter;
  /**
   * Resolves when a server process with a number above `number` is ready. Server processes are numbered in the order in which
   * they start.
   */
  readonly nextServer: (number: number) => Promise<void>;
};

const agent = 'versioned';
const region = 'us-west';
/** The size of a part in bytes. It makes an upload take several requests, so that kills can happen between them. */
const paddingBytes = 400_000;
const pieceBytes = 50_000;
/** Time limit in milliseconds, after which a deploy counts as lost. */
const timeoutMs = 60_000;
const pollMs = 10;

/** Creates a project with a new archive. In every fourth project, the bot does not start. */
export function createDeployAttempt(number: number): { readonly deploy: DeployAttempt; readonly bytes: Buffer } {
  const isBroken = number % 4 === 3;
  const version = `${number}`;
  const files = createVersionedBot(version, isBroken ? 'process.exit(3);' : '');
  const entries = Object.entries(files).map(([path, body]) => ({ path, body }));
  const bytes = createArchive(...entries, { path: 'padding.bin', body: randomBytes(paddingBytes) });
  const contentHash = createHash('sha256').update(bytes).digest('hex');
  return { deploy: { version, contentHash, isBroken, buildId: null, problems: [] }, bytes };
}

/** Uploads, builds and deploys a project, and waits for the result. Retries requests without a response. */
export async function runDeploy(context: DeployContext, deploy: DeployAttempt, bytes: Buffer): Promise<void> {
  const uploadId = await upload(context, deploy, bytes);
  context.events.emit('create-build');
  const created = await retry(context, 'POST', '/v1/builds', { uploadId, region });
  const { build } = created.body as { build?: { id: string } };
  deploy.buildId = build?.id ?? null;
  const built = await until(context, `/v1/builds/${deploy.buildId}`, (body) => !/pending|building/.test(stateOf(body)));
  if (stateOf(built) !== 'success') deploy.problems.push(`its build ended as ${JSON.stringify(built)}`);

  context.events.emit('create-deployment');
  const known = await retry(context, 'GET', `/v1/agents/${agent}`);
  const deployed =
    known.status === 404
      ? await retry(context, 'POST', '/v1/agents', { serviceName: agent, region, buildId: deploy.buildId })
      : await retry(context, 'POST', `/v1/agents/${agent}`, { buildId: deploy.buildId });
  // If a first request created the agent but its response was lost, the retry reports that the agent exists.
  const isThere = deployed.status === 400 && (deployed.body as { reason?: string }).reason === 'agent-exists';
  if (deployed.status !== 200 && !isThere)
    deploy.problems.push(`its deployment was answered ${JSON.stringify(deployed)}`);

  type Shown = { desiredDeploymentId?: string; reconciledDeploymentId?: string | null };
  const isSettled = (body: unknown) => {
    const { desiredDeploymentId: desired, reconciledDeploymentId: reconciled } = body as Shown;
    return desired !== undefined && desired === reconciled;
  };
  judge(deploy, await until(context, `/v1/agents/${agent}`, isSettled));
}

/** Compares the agent's reported state with the expected result of a finished deploy. */
function judge(deploy: DeployAttempt, shown: unknown): void {
  type Shown = { activeDeploymentReady?: boolean; errors?: { code: string }[]; deployment?: { buildId: string } };
  const { activeDeploymentReady, errors = [], deployment } = shown as Shown;
  if (deployment?.buildId !== deploy.buildId) deploy.problems.push(`another build is desired: ${deployment?.buildId}`);
  const codes = errors.map(({ code }) => code).join();
  const expected = deploy.isBroken ? 'false PCC_BOT_EXITED' : 'true ';
  if (`${activeDeploymentReady} ${codes}` !== expected) {
    deploy.problems.push(`it ended as ${JSON.stringify({ activeDeploymentReady, errors })}`);
  }
}

/** Uploads in parts and resumes at the offset that the service reports. */
async function upload(context: DeployContext, deploy: DeployAttempt, bytes: Buffer): Promise<string> {
  type Upload = { uploadId: string; uploadUrl: string; uploadFields: { token: string }; receivedBytes: number };
  for (;;) {
    context.events.emit('upload');
    const begun = await retry(context, 'POST', '/v1/builds/upload-url', {
      region,
      contentHash: deploy.contentHash,
      sizeBytes: bytes.length,
    });
    const { uploadId, uploadUrl, uploadFields, receivedBytes } = begun.body as Upload;
    let offset = receivedBytes;
    while (offset < bytes.length) {
      const server = context.service.current().number;
      const piece = bytes.subarray(offset, offset + pieceBytes);
      const headers = { 'upload-token': uploadFields.token, 'upload-offset': String(offset) };
      const init = { method: 'PATCH', headers, body: new Uint8Array(piece) };
      const answer = await fetch(uploadUrl, init).catch(() => null);
      if (answer?.ok !== true) {
        if (answer === null) await context.nextServer(server);
        break;
      }
      offset += piece.length;
    }
    if (offset >= bytes.length) return uploadId;
  }
}

async function retry(context: DeployContext, method: string, path: string, body?: object): Promise<ApiResponse> {
  for (;;) {
    await context.service.ready();
    const server = context.service.current().number;
    const answer = await context.service.call(method, path, context.service.privateKey, body);
    if (answer === null) await context.nextServer(server);
    else if (answer.status === 503) await delay(pollMs);
    else return answer;
  }
}

async function until(context: DeployContext, path: string, holds: (body: unknown) => boolean): Promise<unknown> {
  const begun = Date.now();
  for (;;) {
    const { body } = await retry(context, 'GET', path);
    if (holds(body) || Date.now() - begun > timeoutMs) return body;
    await delay(pollMs);
  }
}

function stateOf(body: unknown): string {
  return (body as { build?: { status?: string } }).build?.status ?? 'pending';
}

/** Runs one session after another during deploys and kills. Returns the versions that responded, in order. */
export function keepStartingSessions(context: DeployContext): { readonly over: () => Promise<readonly string[]> } {
  const { service } = context;
  const met: string[] = [];
  let isOver = false;
  async function talk(): Promise<void> {
    while (!isOver) {
      await service.ready();
      const server = service.current().number;
      const started = await service.call('POST', `/v1/public/${agent}/start`, service.publicKey, {});
      const { sessionId } = (started?.body ?? {}) as { sessionId?: string };
      if (started !== null && started.status !== 200)
        met.push(`start: ${started.status} ${JSON.stringify(started.body)}`);
      if (sessionId !== undefined) {
        const url = `${service.url}/v1/public/${agent}/sessions/${sessionId}/version`;
        const response = await fetch(url, { headers: { authorization: `Bearer ${service.publicKey}` } }).catch(
          () => null,
        );
        const text = await response?.text().catch(() => null);
        if (response?.status === 200 && typeof text === 'string') met.push(text);
        await service.call('DELETE', `/v1/agents/${agent}/sessions/${sessionId}`, service.privateKey);
      }
      if (service.current().exitedAt() !== null) await context.nextServer(server);
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
