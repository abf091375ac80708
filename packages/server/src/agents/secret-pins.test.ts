import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { insertTestBuild } from '../../test/support/build-rows.ts';
import { createTestDatabaseRows, type TestDatabaseRows, testNow } from '../../test/support/test-rows.ts';
import { createPutSecretsRequest, createTestVault } from '../../test/support/test-vault.ts';
import { deleteSecretSet } from '../secrets/delete.ts';
import { newId } from '../store/uuid.ts';
import { createAgent, updateAgent } from './deploy.ts';
import { rollBack } from './rollback.ts';
import { findAgentsUsingSecretSet } from './secret-pins.ts';
import { getAgent, listAgents } from './show.ts';
import { listDeployments } from './show-deployments.ts';

describe('an agent with secrets', () => {
  let rows: TestDatabaseRows;
  let vault: Awaited<ReturnType<typeof createTestVault>>;
  let scope: { organizationId: string; organizationName: string; keyId: string };
  let buildId: string;

  beforeEach(async () => {
    rows = await createTestDatabaseRows();
    vault = await createTestVault(rows);
    const organizationId = await rows.organization('home');
    scope = { ...vault.scopeOf(organizationId), organizationName: 'home' };
    await rows.host();
    const built = { state: 'success', prepared: '{"at":"x"}', completed_at: testNow } as const;
    buildId = (await insertTestBuild(rows.db, organizationId, built)).id;
  });
  afterEach(() => rows.close());

  const context = () => ({ db: rows.db, now: () => testNow, newId, maxConversationLevel: 'transcript' as const });
  const put = (values: Record<string, string>) =>
    vault.put(scope.organizationId, 'keys', createPutSecretsRequest(values));
  const create = () => createAgent(context(), scope, { serviceName: 'echo', buildId, secretSet: 'keys' });
  const update = (fields = {}) =>
    updateAgent({ ...context(), findImageDigest: async () => null }, scope, 'echo', fields);
  const pins = async () => {
    const agent = await getAgent(context(), scope, 'echo', async () => []);
    const row = await rows.find('deployments', agent.desiredDeploymentId);
    return row.secret_pins.map(({ secretSet, revision }) => `${secretSet} ${revision}`);
  };

  it('cannot be created until its secret set is ready, and then pins the current revision of the set', async () => {
    await expect(create()).rejects.toMatchObject({ reason: 'secret-set-not-found', status: 404 });
    await put({ A: '1' });
    await expect(create()).rejects.toMatchObject({ reason: 'secret-set-not-ready', status: 409 });
    await vault.deliver();
    await create();
    expect(await pins()).toEqual(['keys 1']);
  });

  it('gets a new deployment only if a secret changed', async () => {
    await put({ A: '1' });
    await vault.deliver();
    await create();
    expect(await update()).toBe('none');
    await put({ A: '2' });
    await expect(update()).rejects.toMatchObject({ reason: 'secret-set-not-ready' });
    await vault.deliver();
    expect(await pins()).toEqual(['keys 1']);
    expect(await update()).toBe('deployment');
    expect(await pins()).toEqual(['keys 2']);
  });

  it('can change minAgents while its secret set is not ready, and pins a new revision once the set is ready', async () => {
    await put({ A: '1' });
    await vault.deliver();
    await create();
    const first = (await show()).desiredDeploymentId;
    await put({ A: '2' });
    expect(await update({ autoScaling: { minAgents: 1 } })).toBe('scaling');
    await expect(update({ autoScaling: { minAgents: 2 }, secretSet: 'keys' })).rejects.toMatchObject({
      reason: 'secret-set-not-ready',
    });
    await removeSet(true);
    expect(await update({ autoScaling: { minAgents: 2 } })).toBe('scaling');
    expect((await show()).desiredDeploymentId).toBe(first);
    expect(await pins()).toEqual(['keys 1']);
    await ready({ A: '3' });
    expect(await update({ autoScaling: { minAgents: 3 } })).toBe('deployment');
    expect((await show()).secretSets).toMatchObject([{ revision: 1, stale: false }]);
  });

  const removeSet = (force: boolean) =>
    deleteSecretSet(vault.context, scope, 'keys', { force }, async (db, setId) =>
      (await findAgentsUsingSecretSet(db, setId)).map(({ name }) => name),
    );
  const ready = async (values: Record<string, string>) => {
    await put(values);
    await vault.deliver();
  };
  const show = () => getAgent(context(), scope, 'echo', async () => []);
  const listed = async () => {
    const query = { includeActiveDeployment: false, region: undefined };
    return (await listAgents(rows, scope, query)).map(({ secretSets }) => secretSets);
  };
  const rollBackTo = (deploymentId: string) =>
    rollBack({ ...context(), hashDirectory: async () => '' }, scope, 'echo', deploymentId);

  it('prevents the deletion of its secret set unless the deletion is forced', async () => {
    await ready({ A: '1' });
    await create();
    await expect(removeSet(false)).rejects.toMatchObject({ reason: 'secret-set-in-use', status: 409 });
    expect(await removeSet(true)).toMatchObject({ agents: ['echo'] });
  });

  it('shows that its secret set was deleted, and can be deployed with a new set of that name', async () => {
    await ready({ A: '1' });
    await create();
    await removeSet(true);
    expect((await show()).secretSets).toEqual([{ secretSet: 'keys', revision: 1, newestRevision: null, stale: true }]);
    await expect(update()).rejects.toMatchObject({
      reason: 'secret-set-not-found',
      status: 404,
      message: expect.stringMatching(/set keys, which the agent runs with, was deleted/),
    });
    await ready({ A: '1' });
    expect(await update()).toBe('deployment');
    expect((await show()).secretSets).toMatchObject([{ revision: 1, newestRevision: 1, stale: false }]);
  });

  it('shows the pinned and the newest revision of its secrets, and whether the pinned revision is older', async () => {
    await ready({ A: '1' });
    await create();
    const fresh = [{ secretSet: 'keys', revision: 1, newestRevision: 1, stale: false }];
    expect((await show()).secretSets).toEqual(fresh);
    expect(await listed()).toEqual([fresh]);
    await put({ A: '2' });
    const stale = [{ secretSet: 'keys', revision: 1, newestRevision: 2, stale: true }];
    expect((await show()).secretSets).toEqual(stale);
    expect(await listed()).toEqual([stale]);
    const away = { organizationId: await rows.organization('away'), organizationName: 'away' };
    const query = { limit: 10, offset: 0 };
    const { deployments } = await listDeployments(rows, scope, 'echo', query, async () => []);
    expect(deployments).toMatchObject([{ secretRevisions: stale }]);
    expect(await listAgents(rows, away, { includeActiveDeployment: false, region: undefined })).toEqual([]);
  });

  it('keeps its secret set in new deployments until a request sets secretSet to null', async () => {
    await ready({ A: '1' });
    await create();
    expect(await update({ maxSessionDuration: 60 })).toBe('deployment');
    expect(await pins()).toEqual(['keys 1']);
    expect(await update({ secretSet: null })).toBe('deployment');
    expect(await pins()).toEqual([]);
    expect(await update({ secretSet: null, imagePullSecretSet: null })).toBe('none');
    expect(await update({ secretSet: 'KEYS' })).toBe('deployment');
    expect(await pins()).toEqual(['keys 1']);
  });

  it('rolls back to an earlier revision of its secret set only if the set still exists', async () => {
    await ready({ A: '1' });
    await create();
    const first = (await show()).desiredDeploymentId;
    await ready({ A: '2' });
    await update();
    expect(await pins()).toEqual(['keys 2']);
    await rollBackTo(first);
    expect(await pins()).toEqual(['keys 1']);
    await removeSet(true);
    await expect(rollBackTo(first)).rejects.toMatchObject({
      reason: 'deployment-unavailable',
      status: 409,
      message: expect.stringMatching(/the secret set keys, and it was deleted/),
    });
  });

  it('rejects a secret set that is missing, in another region, or of another type', async () => {
    await vault.put(scope.organizationId, 'far', { ...createPutSecretsRequest({ A: '1' }), region: 'eu' });
    const secretValue = Buffer.from('user:password').toString('base64');
    const hub = { isImagePullSecret: true, host: 'ghcr.io', secretValue };
    await vault.put(scope.organizationId, 'hub', hub);
    await ready({ A: '1' });
    await create();
    for (const [fields, reason, status] of [
      [{ secretSet: 'far' }, 'secret-set-elsewhere', 400],
      [{ secretSet: 'none' }, 'secret-set-not-found', 404],
      [{ secretSet: 'hub' }, 'secret-set-kind', 400],
      [{ imagePullSecretSet: 'keys' }, 'not-supported', 400],
    ] as const) {
      await expect(update(fields)).rejects.toMatchObject({ reason, status });
    }
    expect(await pins()).toEqual(['keys 1']);
  });
});
