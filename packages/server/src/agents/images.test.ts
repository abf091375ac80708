import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { insertTestBuild } from '../../test/support/build-rows.ts';
import { createTestDatabaseRows, type TestDatabaseRows, testNow } from '../../test/support/test-rows.ts';
import { createPutSecretsRequest, createTestVault, getApiErrorReason } from '../../test/support/test-vault.ts';
import { newId } from '../store/uuid.ts';
import { createAgent, updateAgent } from './deploy.ts';
import { activateDeployment, failDeployment, recordPreparedProject } from './deployment-state.ts';
import { recordSourceProblems } from './record-source-problems.ts';
import { rollBack } from './rollback.ts';
import { findAgentsUsingSecretSet } from './secret-pins.ts';
import { getAgent } from './show.ts';
import { getDeployment, listDeployments } from './show-deployments.ts';

const digest = (letter: string) => `sha256:${letter.repeat(64)}`;

describe('agents from images', () => {
  let rows: TestDatabaseRows;
  let vault: Awaited<ReturnType<typeof createTestVault>>;
  let scope: { organizationId: string; organizationName: string; keyId: string };
  let clock: Date;
  let asked: unknown[];
  let registryDigest: string | null;

  beforeEach(async () => {
    rows = await createTestDatabaseRows();
    vault = await createTestVault(rows);
    const organizationId = await rows.organization('home');
    scope = { ...vault.scopeOf(organizationId), organizationName: 'home' };
    await rows.host();
    await rows.host('projects');
    await rows.db.updateTable('hosts').set({ accepts: 'image' }).where('region', '=', 'us-west').execute();
    clock = testNow;
    asked = [];
    registryDigest = digest('a');
  });
  afterEach(() => rows.close());

  const context = () => ({
    db: rows.db,
    now: () => clock,
    newId,
    hashDirectory: async () => 'hash',
    maxConversationLevel: 'transcript' as const,
    findImageDigest: async (_: unknown, pullSecret: string | null, image: { text: string }) => {
      asked.push([pullSecret, image.text]);
      return registryDigest;
    },
  });
  const create = (fields: object, serviceName = 'echo') => createAgent(context(), scope, { serviceName, ...fields });
  const update = (fields: object) => updateAgent(context(), scope, 'echo', fields);
  const show = () => getAgent(context(), scope, 'echo', async () => []);
  const desired = async () => getDeployment(rows, scope, 'echo', (await show()).desiredDeploymentId, async () => []);
  const putPullSecret = async (name: string, host: string, credentials = 'user:password') => {
    const secretValue = Buffer.from(credentials).toString('base64');
    await vault.put(scope.organizationId, name, { isImagePullSecret: true, host, secretValue });
    await vault.deliver();
  };
  /** Stores what the runtime driver has pulled, and activates the desired deployment. Returns its id. */
  async function pullAndActivate(pulled = digest('a')): Promise<string> {
    const { id: agentId, desiredDeploymentId: id } = await show();
    clock = new Date(clock.getTime() + 1_000);
    await recordPreparedProject(context(), id, { digest: pulled, platform: 'linux/amd64' });
    expect(await activateDeployment(context(), { id, agentId })).toBe(true);
    return id;
  }

  describe('createAgent', () => {
    it('creates a deployment that waits for the pull, and shows its reference and then its digest', async () => {
      expect(await create({ image: 'team/my-bot:1.4' })).toBe('deployment');
      expect(await desired()).toMatchObject({
        state: 'preparing',
        buildId: null,
        contentHash: '',
        image: { reference: 'docker.io/team/my-bot:1.4', digest: null, pullSecret: null, pulling: null },
        manifest: { spec: { image: 'docker.io/team/my-bot:1.4', imagePullSecretName: null } },
      });
      await pullAndActivate();
      expect(await desired()).toMatchObject({
        state: 'ready',
        contentHash: digest('a'),
        image: { reference: 'docker.io/team/my-bot:1.4', digest: digest('a'), pulling: null },
      });
      expect((await show()).deployment.manifest.spec.image).toBe('docker.io/team/my-bot:1.4');
    });

    it('stores the name of the image pull secret, which cannot be deleted then without force', async () => {
      await putPullSecret('Hub', 'ghcr.io/team');
      await create({ image: 'ghcr.io/team/bot:1', imagePullSecretSet: 'hub' });
      expect(await desired()).toMatchObject({ image: { pullSecret: 'Hub' } });
      const { id } = await rows.db.selectFrom('secret_sets').select('id').executeTakeFirstOrThrow();
      expect(await findAgentsUsingSecretSet(rows.db, id)).toEqual([{ name: 'echo', revision: 1 }]);
    });

    it.each([
      ['no image', {}, 'invalid-request', /Name the image/],
      ['a build', { image: 'a:1', buildId: newId() }, 'not-supported', /runs images, not builds/],
      ['an architecture', { image: 'a:1', architecture: 'arm64' }, 'not-supported', /architecture/],
      ['a repository', { git: { repo: 'a/b' } }, 'not-supported', /push an image/],
      [
        'a missing pull secret',
        { image: 'ghcr.io/a:1', imagePullSecretSet: 'none' },
        'secret-set-not-found',
        /image-pull-secret none ghcr\.io"/,
      ],
      [
        'a secret set as pull secret',
        { image: 'ghcr.io/a:1', imagePullSecretSet: 'keys' },
        'secret-set-kind',
        /Name an image pull secret/,
      ],
      [
        'a pull secret of another region',
        { image: 'ghcr.io/a:1', imagePullSecretSet: 'far' },
        'secret-set-elsewhere',
        /region projects/,
      ],
      [
        'a pull secret of another registry',
        { image: 'quay.io/a:1', imagePullSecretSet: 'hub' },
        'invalid-request',
        /for ghcr\.io\/team, and the image is in quay\.io\/a/,
      ],
      [
        'a pull secret of another path',
        { image: 'ghcr.io/other/a:1', imagePullSecretSet: 'hub' },
        'invalid-request',
        /for ghcr\.io\/team/,
      ],
    ])('rejects a request with %s, and stores nothing', async (_, fields, reason, message) => {
      await putPullSecret('hub', 'ghcr.io/team');
      await vault.put(scope.organizationId, 'keys', createPutSecretsRequest({ A: '1' }));
      await vault.put(scope.organizationId, 'far', {
        ...{ isImagePullSecret: true, host: 'ghcr.io', secretValue: Buffer.from('a:b').toString('base64') },
        region: 'eu',
      });
      await rows.db.updateTable('secret_sets').set({ region: 'projects' }).where('name', '=', 'far').execute();
      await expect(create(fields)).rejects.toMatchObject({ reason, message: expect.stringMatching(message) });
      expect(await rows.db.selectFrom('agents').select('id').execute()).toEqual([]);
    });

    it("cannot use another organization's image pull secret", async () => {
      await putPullSecret('hub', 'ghcr.io');
      const other = { ...scope, organizationId: await rows.organization() };
      const request = { serviceName: 'echo', image: 'ghcr.io/a:1', imagePullSecretSet: 'hub' };
      expect(await getApiErrorReason(createAgent(context(), other, request))).toBe('secret-set-not-found');
    });

    it('rejects an image in a region that runs projects, with what to do', async () => {
      await expect(create({ image: 'a:1', region: 'projects' })).rejects.toMatchObject({
        reason: 'not-supported',
        status: 400,
        message: expect.stringMatching(/image: this region runs builds, not images: remove it/),
      });
    });
  });

  describe('updateAgent', () => {
    it('changes nothing if the registry has the same digest for the tag', async () => {
      await create({ image: 'a:1' });
      await pullAndActivate();
      expect(await update({ image: 'docker.io/library/a:1' })).toBe('none');
      expect(asked).toEqual([[null, 'docker.io/library/a:1']]);
    });

    it.each([
      ['has another digest', digest('b')],
      ['does not answer', null],
    ])('creates a deployment that pulls the tag again if the registry %s', async (_, answer) => {
      await create({ image: 'a:1' });
      await pullAndActivate();
      registryDigest = answer;
      expect(await update({ image: 'a:1' })).toBe('deployment');
      expect(await desired()).toMatchObject({ state: 'preparing', image: { digest: null } });
      await pullAndActivate(digest('b'));
      expect(await desired()).toMatchObject({ image: { digest: digest('b') } });
    });

    it('does not ask the registry about a digest, and pulls exactly that digest', async () => {
      const image = `a@${digest('a')}`;
      await create({ image });
      expect(await desired()).toMatchObject({ image: { digest: digest('a') } });
      await pullAndActivate();
      expect(await update({ image })).toBe('none');
      expect(await update({ image: `a@${digest('c')}` })).toBe('deployment');
      expect(asked).toEqual([]);
    });

    it('keeps the digest if the request names no image', async () => {
      await create({ image: 'a:1' });
      await pullAndActivate();
      expect(await update({ autoScaling: { maxAgents: 3 } })).toBe('scaling');
      expect(await update({ maxSessionDuration: 600 })).toBe('deployment');
      expect(await desired()).toMatchObject({ state: 'validating', image: { digest: digest('a') } });
      expect(asked).toEqual([]);
    });

    it('creates a deployment if the image pull secret changes, and asks with the new one', async () => {
      await putPullSecret('hub', 'ghcr.io');
      await create({ image: 'ghcr.io/a:1' });
      await pullAndActivate();
      expect(await update({ imagePullSecretSet: 'hub' })).toBe('deployment');
      expect(await desired()).toMatchObject({ state: 'preparing', image: { pullSecret: 'hub', digest: digest('a') } });
      await pullAndActivate();
      expect(await update({ image: 'ghcr.io/a:1', imagePullSecretSet: 'HUB' })).toBe('none');
      expect(await update({ image: 'ghcr.io/a:1' })).toBe('none');
      expect(asked).toEqual([
        ['hub', 'ghcr.io/a:1'],
        ['hub', 'ghcr.io/a:1'],
      ]);
      expect(await update({ image: 'ghcr.io/a:1', imagePullSecretSet: null })).toBe('deployment');
      expect(await desired()).toMatchObject({ image: { pullSecret: null } });
    });

    it('creates a deployment after a failed pull, although the request is the same', async () => {
      await create({ image: 'a:1' });
      const { id: agentId, desiredDeploymentId: id } = await show();
      const fault = { code: 'PCC_IMAGE_NOT_FOUND', message: 'The image does not exist.', exit: null } as const;
      expect(await failDeployment(context(), { id, agentId }, fault)).toBe(true);
      expect((await show()).errors).toEqual([{ code: 'PCC_IMAGE_NOT_FOUND', message: 'The image does not exist.' }]);
      expect(await update({ image: 'a:1' })).toBe('deployment');
    });
  });

  describe('rollBack', () => {
    it('deploys the digest that the earlier deployment ran, although its tag was pushed again', async () => {
      await create({ image: 'a:1' });
      const first = await pullAndActivate(digest('a'));
      registryDigest = digest('b');
      await update({ image: 'a:1' });
      await pullAndActivate(digest('b'));
      await rollBack(context(), scope, 'echo', first);
      expect(await desired()).toMatchObject({
        state: 'validating',
        rolledBackFrom: first,
        image: { reference: 'docker.io/library/a:1', digest: digest('a') },
      });
    });

    it('cannot deploy an image again that was never pulled', async () => {
      await create({ image: 'a:1' });
      const { desiredDeploymentId } = await show();
      await expect(rollBack(context(), scope, 'echo', desiredDeploymentId)).rejects.toMatchObject({
        reason: 'deployment-unavailable',
      });
    });
  });

  it('shows agents that the region does not run any more what to deploy, until it runs them again', async () => {
    const built = { state: 'success', prepared: '{"at":"x"}', completed_at: testNow, region: 'projects' } as const;
    const buildId = (await insertTestBuild(rows.db, scope.organizationId, built)).id;
    await create({ buildId, region: 'projects' });
    await pullAndActivate();
    const change = (accepts: 'build' | 'image') => recordSourceProblems(context(), { region: 'projects', accepts });
    await change('image');
    const { failure } =
      (await listDeployments(rows, scope, 'echo', { limit: 1, offset: 0, cursor: undefined }, async () => []))
        .deployments[0] ?? {};
    expect(failure).toMatchObject({
      code: 'PCC_SOURCE_NOT_ACCEPTED',
      message:
        'Region projects now runs images, not projects. Push an image of the bot to a registry, then run: botcli cloud deploy echo IMAGE',
    });
    await rows.db.updateTable('hosts').set({ accepts: 'image' }).where('region', '=', 'projects').execute();
    await expect(update({ maxSessionDuration: 600 })).rejects.toMatchObject({
      message: expect.stringMatching(/Name the image/),
    });
    expect(await update({ image: 'a:1' })).toBe('deployment');
    await change('build');
    expect((await show()).conditions.filter(({ type }) => type === 'Degraded')).toEqual([]);
  });
});
