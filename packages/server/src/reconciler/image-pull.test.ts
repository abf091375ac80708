import type { ImageErrorCode } from '@bothost/contract';
import { ProjectPreparationError, type ProjectPreparationSpec, type Runtime } from '@bothost/runtime';
import { pino } from 'pino';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { testNow } from '../../test/support/test-rows.ts';
import { createTestVault } from '../../test/support/test-vault.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { listDeploymentsToReconcile } from '../agents/deployment-state.ts';
import { createImageRegistryConnectionPolicy } from '../secrets/registry/registry-policy.ts';
import { createBackoff } from './backoff.ts';
import { createDeploymentPreparer } from './deployment-preparer.ts';
import { pullImage } from './image-pull.ts';
import { createDeploymentOutcomeWaiters } from './outcomes.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const logger = pino({ level: 'silent' });
const now = () => testNow;
type Prepare = (spec: ProjectPreparationSpec, signal: AbortSignal) => ReturnType<Runtime['prepare']>;

const rows = await useTestRows();
const vault = await createTestVault(rows);

describe('the pull of an image', () => {
  let organizationId: string;
  let closing: AbortController;
  beforeEach(async () => {
    organizationId = await rows.organization();
    closing = new AbortController();
  });

  const putPullSecret = (credentials: string, host = 'ghcr.io') =>
    vault.put(organizationId, 'hub', {
      isImagePullSecret: true,
      host,
      secretValue: Buffer.from(credentials).toString('base64'),
    });
  const insert = async (fields = {}) => {
    const agentId = await rows.agent(organizationId, { name: 'echo' });
    const source = JSON.stringify({ kind: 'image', reference: 'ghcr.io/team/bot:1' });
    return rows.deployment(agentId, { state: 'preparing', prepared: null, source, ...fields });
  };
  const stored = (id: string) => rows.find('deployments', id);
  async function prepare(id: string, runtimePrepare: Prepare, addresses = ['93.184.216.34']) {
    const runtime = {
      prepare: (spec: ProjectPreparationSpec, _: unknown, signal: AbortSignal) => runtimePrepare(spec, signal),
    };
    const registries = { policy: createImageRegistryConnectionPolicy([], []), resolve: async () => addresses };
    const context = { ...vault.context, db: rows.db, now, logger, runtime, registries, closing: closing.signal };
    const preparer = createDeploymentPreparer({
      ...context,
      host: { region: 'us-west', accepts: 'image' },
      pullImage: (row) => pullImage(context, row),
      backoff: createBackoff(now),
      outcomes: createDeploymentOutcomeWaiters<string | null>(),
      retryWrite: (write) => write(),
    });
    const row = (await listDeploymentsToReconcile(rows.db, 'us-west', [])).find((one) => one.id === id);
    if (row === undefined) throw new Error('The deployment is not open.');
    await preparer.prepare(row);
    return stored(id);
  }

  it('uses the newest revision of the pull secret, and stores the digest', async () => {
    await putPullSecret('user:first');
    await putPullSecret('user:pass:word');
    const id = await insert({ image_pull_secret: 'HUB' });
    const seen: unknown[] = [];
    const row = await prepare(id, async ({ source, credentials }) => {
      seen.push(source, await credentials?.());
      return { digest, platform: 'linux/amd64' };
    });
    expect(seen).toEqual([
      { kind: 'image', reference: 'ghcr.io/team/bot:1', organizationId },
      { registry: 'ghcr.io', username: 'user', password: 'pass:word' },
    ]);
    expect(row).toMatchObject({ state: 'validating', image_digest: digest, prepared: { digest }, image_layers: null });
  });

  it('pulls only the known digest after a restore or a rollback', async () => {
    const id = await insert({ image_digest: digest });
    let reference: unknown;
    await prepare(id, async ({ source }) => {
      reference = source.kind === 'image' && source.reference;
      return { digest };
    });
    expect(reference).toBe(`ghcr.io/team/bot@${digest}`);
  });

  it('stores the progress while it runs', async () => {
    const layers = [{ id: 'abc', state: 'downloading', bytes: 1, totalBytes: 2 }] as const;
    const id = await insert();
    await prepare(id, async ({ onProgress }) => {
      onProgress?.(layers);
      await vi.waitFor(async () => expect((await stored(id)).image_layers).toEqual(layers));
      return { digest };
    });
    expect((await stored(id)).image_layers).toBeNull();
  });

  const next = 'botcli cloud secrets image-pull-secret';
  it.each<[ImageErrorCode, string | null, RegExp]>([
    [
      'PCC_IMAGE_NOT_FOUND',
      null,
      new RegExp(`does not exist in ghcr.io.*"${next} NAME ghcr.io USER:TOKEN".*--credentials NAME`),
    ],
    ['PCC_IMAGE_NOT_FOUND', 'hub', /credentials of hub may not pull it/],
    ['PCC_IMAGE_PULL_UNAUTHORIZED', null, new RegExp(`requires credentials.*"${next} NAME ghcr.io`)],
    ['PCC_IMAGE_PULL_UNAUTHORIZED', 'hub', new RegExp(`rejects the credentials.*"${next} hub ghcr.io`)],
    ['PCC_IMAGE_PULL_RATE_LIMIT', null, /limits how many images it sends without credentials/],
    ['PCC_IMAGE_PULL_RATE_LIMIT', 'hub', /Wait, then deploy again/],
    ['PCC_IMAGE_TOO_LARGE', null, /^Detail\. Make the image smaller/],
    ['PCC_INVALID_IMAGE_PLATFORM', null, /^Detail\. Push an image for the platform/],
    ['PCC_IMAGE_PULL_UNKNOWN_ERROR', null, /^Detail\.$/],
  ])('fails the deployment with %s (pull secret: %s) and the next step', async (code, secret, message) => {
    await putPullSecret('user:password');
    const id = await insert({ image_pull_secret: secret });
    const error = new ProjectPreparationError('Detail.', { imageCode: code });
    const row = await prepare(id, () => Promise.reject(error));
    expect(row).toMatchObject({ state: 'failed', error_code: code, error: expect.stringMatching(message) });
  });

  it('is repeated after an unknown error, which is shown meanwhile, and fails after the fifth', async () => {
    const id = await insert();
    const lose = () => prepare(id, () => Promise.reject(new Error('The connection was lost.')));
    expect(await lose()).toMatchObject({
      state: 'preparing',
      error_code: 'PCC_IMAGE_PULL_UNKNOWN_ERROR',
      error: 'The connection was lost.',
      restarts: 1,
    });
    for (const _ of [2, 3, 4]) await lose();
    expect(await lose()).toMatchObject({ state: 'failed', error_code: 'PCC_IMAGE_PULL_UNKNOWN_ERROR' });
  });

  it('clears the errors of earlier attempts when it succeeds', async () => {
    const id = await insert();
    await prepare(id, () => Promise.reject(new Error('The connection was lost.')));
    expect(await prepare(id, async () => ({ digest }))).toMatchObject({
      state: 'validating',
      error: null,
      error_code: null,
      restarts: 0,
    });
  });

  it('is not a failure of the deployment if the server closes', async () => {
    const id = await insert();
    const row = await prepare(id, (_, signal) => {
      closing.abort();
      return Promise.reject(signal.reason);
    });
    expect(row).toMatchObject({ state: 'preparing', error: null });
  });

  it.each([
    ['was deleted', 'gone', /was deleted\. Create it with "botcli cloud secrets image-pull-secret gone ghcr\.io"/],
    ['is for another registry now', 'hub', /is now for another registry/],
  ])('fails without asking the registry if the pull secret %s', async (_, secret, message) => {
    await putPullSecret('user:password', 'quay.io');
    const id = await insert({ image_pull_secret: secret });
    const row = await prepare(id, () => Promise.reject(new Error('This must not be called.')));
    expect(row).toMatchObject({
      state: 'failed',
      error_code: 'PCC_IMAGE_PULL_UNAUTHORIZED',
      error: expect.stringMatching(message),
    });
  });

  it.each([['127.0.0.1'], ['10.1.2.3'], ['169.254.169.254']])(
    'does not connect to a registry at %s that the operator has not listed',
    async (address) => {
      const id = await insert();
      const row = await prepare(id, () => Promise.reject(new Error('This must not be called.')), [address]);
      expect(row).toMatchObject({ state: 'failed', error: expect.stringMatching(/BOTHOST_REGISTRIES/) });
    },
  );
});
