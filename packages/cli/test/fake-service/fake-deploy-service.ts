import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import {
  type AgentSettings,
  type Build,
  type ConversationLevel,
  createApiError,
  createErrorBody,
  type DeploymentDetails,
  type ErrorReason,
  type ImageLayer,
  type PutSecretsRequest,
  type SecretSetListItem,
} from '@bothost/contract';
import { type FakeService, simulatedDisconnectError, startFakeService } from './fake-service.ts';
import { agent, deployment, organization, privateKey, publicKey, secretSet, successfulBuild } from './records.ts';

export type FakeDeployService = FakeService & {
  readonly received: () => Buffer;
  readonly deployments: DeploymentDetails[];
  readonly builds: Build[];
  readonly faults: {
    /** For each of the next upload requests, the number of bytes after which the service breaks the connection. */
    breaks: number[];
    /** Makes the service store half of the bytes of the next upload request and never respond. */
    stalls: boolean;
    /**
     * Makes the service break the connection of the next deploy request before or after it stores the deployment. Null: never.
     */
    losesWrites: 'before' | 'after' | null;
    /** The origin of the upload URLs in responses. Null means the origin of this server. */
    publicOrigin: string | null;
    /** The error reason with which the next upload request fails, or null if the request succeeds. */
    refuse: ErrorReason | null;
    /** Called for each search for a build of the same content, and for each upload request. */
    onRequest: (request: 'search' | 'upload') => unknown;
    /** Number of the next requests whose connection breaks without a response. Uploads do not count. */
    hangUps: number;
    buildFails: boolean;
    /** Cancels the build while the client follows its log. */
    buildIsCanceled: boolean;
    /** Number of log requests for which the build is still queued. Afterwards, the build runs. */
    waits: number;
    /** The start time of the next build. A time in the past simulates a build that an earlier run of the command started. */
    startedAt: string;
    /** The failure of the next deployment, or null if it succeeds. */
    fails: DeploymentDetails['failure'];
    log: string[];
    live: number;
    /** Overrides properties of the secret set `keys`, which is ready by default. `missing` means that the set does not exist. */
    keys: Partial<SecretSetListItem> | 'missing';
    /** Number of polls for which a new deployment is still in progress. Afterwards, it is ready. */
    pollsUntilReady: number;
    /** The digest of each image. */
    digest: string;
    /** The progress of the pull while a new deployment of an image is being prepared. */
    layers: ImageLayer[];
    /** What the first instance of a new deployment waits for. */
    waitsFor: string | null;
  };
};

const uuid = (number: number) => `01930000-0000-7000-8000-${String(number).padStart(12, '0')}`;

export async function startFakeDeployService(): Promise<FakeDeployService> {
  let received = Buffer.alloc(0);
  let announced = { contentHash: '', sizeBytes: 0 };
  let remainingPolls = 0;
  let level: ConversationLevel = 'timings';
  const deployments: DeploymentDetails[] = [];
  const builds: Build[] = [];
  const faults: FakeDeployService['faults'] = {
    breaks: [],
    stalls: false,
    publicOrigin: null,
    losesWrites: null,
    refuse: null,
    onRequest: () => {},
    hangUps: 0,
    buildFails: false,
    buildIsCanceled: false,
    waits: 0,
    startedAt: '2026-11-20T17:00:00.000Z',
    fails: null,
    log: ['installing', 'done'],
    live: 0,
    keys: {},
    pollsUntilReady: 0,
    digest: `sha256:${'a'.repeat(64)}`,
    layers: [],
    waitsFor: null,
  };
  const tripped = () => {
    if (faults.hangUps === 0) return;
    faults.hangUps -= 1;
    throw simulatedDisconnectError;
  };
  const details = () => {
    const [desired] = deployments;
    if (desired === undefined) throw createApiError('not-found');
    // While a new deployment is in progress, the previous deployment serves the sessions.
    const serving = remainingPolls > 0 ? deployments[1] : deployments.find((one) => one.serving);
    return {
      ...agent,
      name: 'my-bot',
      desiredDeploymentId: desired.id,
      activeDeploymentId: serving?.id ?? null,
      activeSessionCount: faults.live,
      conversation: { level, maximumLevel: 'transcript' } as const,
      deployment: desired,
      conditions:
        remainingPolls > 0 && faults.waitsFor !== null
          ? [
              {
                type: 'Progressing' as const,
                status: 'True' as const,
                reason: 'InstancesWait',
                message: faults.waitsFor,
                lastTransitionTime: faults.startedAt,
              },
            ]
          : [],
    };
  };
  const deploy = (body: unknown) => {
    const { buildId, autoScaling, agentProfile, maxSessionDuration, secretSet } = body as Record<string, unknown>;
    const { image, imagePullSecretSet } = body as AgentSettings;
    const before = deployments[0] ?? deployment;
    const found = builds.find(({ id }) => id === buildId);
    if (found === undefined && buildId !== undefined) throw createApiError('build-not-usable');
    const { minAgents = 0, maxAgents = 50 } = (autoScaling ?? {}) as Record<string, number>;
    const named = typeof secretSet === 'string' ? [secretSet] : [];
    const envFromSecretNames = secretSet === undefined ? before.manifest.spec.envFromSecretNames : named;
    const spec = {
      ...before.manifest.spec,
      autoScaling: { minReplicas: minAgents, maxReplicas: maxAgents },
      maxSessionDurationSeconds: Number(maxSessionDuration ?? 7_200),
      envFromSecretNames,
      imagePullSecretName: imagePullSecretSet ?? null,
    };
    for (const one of deployments) if (faults.fails === null) Object.assign(one, { serving: false });
    remainingPolls = faults.pollsUntilReady;
    deployments.unshift({
      ...deployment,
      id: uuid(900 + deployments.length),
      buildId: found?.id ?? before.buildId,
      contentHash: found?.contentHash ?? before.contentHash,
      image:
        typeof image !== 'string'
          ? null
          : { reference: image, digest: faults.digest, pullSecret: imagePullSecretSet ?? null, pulling: null },
      agentProfile: String(agentProfile ?? 'agent-1x'),
      manifest: { ...before.manifest, metadata: { name: 'my-bot', namespace: 'acme' }, spec },
      state: faults.fails === null ? 'ready' : 'failed',
      serving: faults.fails === null,
      secretRevisions: envFromSecretNames.map((name) => ({
        secretSet: name,
        revision: 1,
        newestRevision: 1,
        stale: false,
      })),
      failure: faults.fails,
    });
    return { ...details(), change: 'deployment' as const };
  };
  const update = (body: unknown) => {
    const { conversation, ...others } = body as AgentSettings;
    const before = level;
    level = conversation?.level ?? level;
    const isOnlyLevel = level !== before && others.buildId === deployments[0]?.buildId;
    return isOnlyLevel ? { ...details(), change: 'conversation' as const } : accept(body);
  };
  const accept = (body: unknown) => {
    if (faults.losesWrites === 'before') {
      faults.losesWrites = null;
      throw simulatedDisconnectError;
    }
    const answer = deploy(body);
    if (faults.losesWrites === null) return answer;
    faults.losesWrites = null;
    throw simulatedDisconnectError;
  };
  const running = (one: Build): Build =>
    faults.waits > 0
      ? { ...one, status: 'pending', createdAt: faults.startedAt, startedAt: null }
      : { ...one, status: 'building', startedAt: faults.startedAt };
  const service = await startFakeService(
    { privateKey, publicKey },
    {
      listOrganizations: () => ({ organizations: [organization] }),
      listSecrets: () => ({ sets: faults.keys === 'missing' ? [] : [{ ...secretSet, ...faults.keys }] }),
      putSecrets: ({ body }) => {
        const { secrets, dryRun: isDryRun, region } = body as PutSecretsRequest;
        const dryRun = isDryRun === true;
        if (!dryRun) faults.keys = {};
        return {
          status: 'OK',
          name: secretSet.name,
          type: 'secret',
          region: region ?? 'us-west',
          readiness: dryRun ? null : 'pending',
          revision: dryRun ? null : 1,
          previousRevision: null,
          change: 'created',
          dryRun,
          changes: (secrets ?? []).map(({ secretKey: key, secretValue }) => ({
            key,
            change: 'new',
            bytes: Buffer.byteLength(secretValue),
            fingerprint: '01234567',
          })),
        };
      },
      listRegions: () => ({ regions: [{ code: 'us-west', display_name: 'US West', accepts: 'build' }] }),
      getProperties: () => ({ properties: { defaultRegion: 'us-west' } }),
      getAgent: () => {
        tripped();
        return details();
      },
      getDeployment: ({ params }) => {
        const found = deployments.find(({ id }) => id === params['deploymentId']);
        if (found === undefined) throw createApiError('deployment-not-found');
        remainingPolls -= 1;
        return remainingPolls >= 0
          ? {
              ...found,
              state: remainingPolls > 2 ? 'preparing' : 'validating',
              serving: false,
              image: found.image && { ...found.image, pulling: remainingPolls > 2 ? faults.layers : null },
            }
          : found;
      },
      listDeployments: () => ({ total_count: deployments.length, deployments, nextCursor: null }),
      listBuilds: ({ query }) => {
        faults.onRequest('search');
        const found = builds.filter(
          ({ contentHash, status }) => contentHash === query['contentHash'] && status === query['status'],
        );
        return { builds: found, total: found.length, limit: 1, offset: 0, nextCursor: null };
      },
      getBuildUploadUrl: ({ body }) => {
        const asked = body as typeof announced;
        if (asked.contentHash !== announced.contentHash) received = Buffer.alloc(0);
        announced = asked;
        return {
          uploadId: uuid(1),
          uploadUrl: `${faults.publicOrigin ?? service.origin}/v1/uploads/${uuid(1)}`,
          uploadFields: { token: 'upload-token' },
          expiresAt: '2026-11-20T18:00:00.000Z',
          receivedBytes: received.length,
        };
      },
      createBuild: () => {
        tripped();
        if (createHash('sha256').update(gunzipSync(received)).digest('hex') !== announced.contentHash)
          throw createApiError('upload-incomplete');
        const { contentHash } = announced;
        builds.unshift({
          ...successfulBuild,
          id: uuid(500 + builds.length),
          contentHash,
          ...(faults.buildFails
            ? { status: 'failed' as const, errorMessage: '"npm ci" failed with status 1.\nnpm error code E404' }
            : {}),
          ...(faults.buildIsCanceled
            ? { status: 'canceled' as const, errorMessage: 'The build was canceled.', errorCode: 'build-canceled' }
            : {}),
        });
        const [made = successfulBuild] = builds;
        return { build: running(made), contextHash: made.contextHash, cached: false };
      },
      getBuildLogs: ({ query }) => {
        tripped();
        const from = Number(query['nextToken'] ?? 0);
        if (faults.waits > 0) {
          faults.waits -= 1;
          return { logs: [], nextToken: String(from) };
        }
        const line = faults.log[from];
        if (line === undefined) return { logs: [] };
        return { logs: [`2026-11-20T17:00:00.000Z ${line}`], nextToken: String(from + 1) };
      },
      getBuild: ({ params }) => {
        const found = builds.find(({ id }) => id === params['buildId']);
        if (found === undefined) throw createApiError('build-not-found');
        return { build: faults.waits > 0 ? running(found) : { ...found, startedAt: faults.startedAt } };
      },
      createAgent: ({ body }) => accept(body),
      updateAgent: ({ body }) => update(body),
      rollback: ({ body }) => {
        const target = deployments.find(({ id }) => id === (body as { deploymentId?: string }).deploymentId);
        if (target === undefined) throw createApiError('deployment-not-found');
        return deploy({ buildId: target.buildId });
      },
      deleteAgent: () => {
        const { id } = details();
        deployments.length = 0;
        return { status: 'OK', activeSessionCount: faults.live, id };
      },
    },
    takeUpload,
  );

  function takeUpload(request: IncomingMessage, response: ServerResponse): boolean {
    if (request.method !== 'PATCH') return false;
    faults.onRequest('upload');
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const refuse = (reason: ErrorReason) => {
      const error = createApiError(reason);
      request.resume();
      answer(error.status, createErrorBody(error, 'request-1'));
    };
    if (request.headers['upload-token'] !== 'upload-token') refuse('upload-token-invalid');
    else if (Number(request.headers['upload-offset']) !== received.length) refuse('upload-offset-wrong');
    else if (faults.refuse !== null) {
      refuse(faults.refuse);
      faults.refuse = null;
    } else {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const piece = Buffer.concat(chunks);
        const kept = faults.stalls ? piece.length / 2 : faults.breaks.shift();
        received = Buffer.concat([received, piece.subarray(0, kept)]);
        if (faults.stalls) faults.stalls = false;
        else if (kept !== undefined) request.socket.destroy();
        else
          answer(200, {
            uploadId: uuid(1),
            receivedBytes: received.length,
            complete: received.length === announced.sizeBytes,
          });
      });
    }
    return true;
  }

  return { ...service, received: () => received, deployments, builds, faults };
}
