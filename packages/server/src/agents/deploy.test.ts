import type { ConversationLevel } from '@bothost/contract';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { insertTestBuild } from '../../test/support/build-rows.ts';
import { createTestDatabaseRows, secondsAgo, type TestDatabaseRows, testNow } from '../../test/support/test-rows.ts';
import { newId } from '../store/uuid.ts';
import { deleteAgent } from './delete.ts';
import { createAgent, updateAgent } from './deploy.ts';
import { activateValidatedDeployment } from './deployment-rows.ts';
import { activateDeployment, failDeployment } from './deployment-state.ts';
import { rollBack } from './rollback.ts';
import { lockAgentForSessionStart } from './serving-deployment.ts';
import { getAgent } from './show.ts';
import { getDeployment, getRollbackTarget, listDeployments, type UsageOf } from './show-deployments.ts';

const keyId = '01890000-0000-7000-8000-000000000001';
const paging = { limit: 10, offset: 0, cursor: undefined };

describe('agents from builds', () => {
  let rows: TestDatabaseRows;
  let scope: { organizationId: string; organizationName: string; keyId: string };
  let clock: Date;

  beforeEach(async () => {
    rows = await createTestDatabaseRows();
    scope = { organizationId: await rows.organization('home'), organizationName: 'home', keyId };
    await rows.host();
    clock = testNow;
    maxConversationLevel = 'transcript';
  });
  afterEach(() => rows.close());

  let maxConversationLevel: ConversationLevel;
  const context = () => ({
    db: rows.db,
    now: () => clock,
    newId,
    hashDirectory: async () => 'hash',
    maxConversationLevel,
    host: { region: 'us-west' },
  });
  const content = (letter: string) => ({ content_hash: letter.repeat(64), context_hash: letter.repeat(16) });
  const built = (fields = {}) =>
    ({ state: 'success', prepared: '{"at":"x"}', completed_at: testNow, ...fields }) as const;
  let letters = 0;
  const build = async (fields = {}, organizationId = scope.organizationId) => {
    letters += 1;
    const hash = content(letters.toString(16));
    return (await insertTestBuild(rows.db, organizationId, { ...hash, ...built(fields) }, hash)).id;
  };
  const currentDigest: string | null = null;
  const findImageDigest = async () => currentDigest;
  const create = (fields: object) => createAgent(context(), scope, { serviceName: 'echo', ...fields });
  const update = (fields: object, name = 'echo') => updateAgent({ ...context(), findImageDigest }, scope, name, fields);
  const roll = (id: string | null = null) => rollBack(context(), scope, 'echo', id);
  const show = (name = 'echo') => getAgent(context(), scope, name, async () => []);
  const list = () => listDeployments(rows, scope, 'echo', paging, async () => []);
  const serving = () =>
    rows.db.transaction().execute((db) => lockAgentForSessionStart({ ...context(), db }, scope.organizationId, 'echo'));
  /** Activates the desired deployment and returns its id. */
  async function activate(): Promise<string> {
    const { desiredDeploymentId: id, id: agentId } = await show();
    clock = new Date(clock.getTime() + 1000);
    expect(await activateDeployment(context(), { id, agentId })).toBe(true);
    return id;
  }
  const exit = { code: 3, signal: null, outOfMemory: false, tail: 'no [voice]' };
  async function fail(): Promise<string> {
    const { desiredDeploymentId: id, id: agentId } = await show();
    const problem = { code: 'PCC_BOT_EXITED', message: 'The bot exited.', exit } as const;
    await failDeployment(context(), { id, agentId }, problem);
    return id;
  }

  describe('createAgent', () => {
    it('creates a deployment in state validating, which serves only after its activation', async () => {
      const buildId = await build();
      expect(await create({ buildId, autoScaling: { minAgents: 1, maxAgents: 3 }, agentProfile: 'agent-2x' })).toBe(
        'deployment',
      );
      const agent = await show();
      expect(agent).toMatchObject({
        name: 'echo',
        region: 'us-west',
        ready: false,
        available: false,
        activeDeploymentReady: false,
        reconciledDeploymentId: null,
        autoScaling: { minReplicas: 1, maxReplicas: 3 },
        agentProfile: 'agent-2x',
        maxSessionDuration: 7200,
        websocketAuth: 'token',
        deployment: { buildId },
        currentRevision: { phase: 'Validating', readyReplicas: 0, health: { ready: false, state: 'waiting' } },
        previousRevision: null,
        errors: [],
        conditions: [{ type: 'Progressing', status: 'True', reason: 'Validating' }],
      });
      expect(await serving()).toBe('not-ready');
      expect((await list()).deployments).toMatchObject([
        { state: 'validating', serving: false, createdByKeyId: keyId, secretRevisions: [], activatedAt: null },
      ]);

      const id = await activate();
      expect(await serving()).toMatchObject({ deploymentId: id, maxAgents: 3 });
      expect(await show()).toMatchObject({
        ready: true,
        available: true,
        activeDeploymentReady: true,
        reconciledDeploymentId: id,
        currentRevision: { phase: 'Active', phaseStartedAt: clock.toISOString(), health: { ready: true } },
        conditions: [],
      });
    });

    it.each([
      ['agent', (usageOf: UsageOf) => getAgent(context(), scope, 'echo', usageOf), { activeDeploymentReady: false }],
      [
        'list of deployments',
        async (usageOf: UsageOf) => (await listDeployments(rows, scope, 'echo', paging, usageOf)).deployments[0],
        { state: 'validating', serving: false },
      ],
      [
        'deployment',
        (usageOf: UsageOf, id: string) => getDeployment(rows, scope, 'echo', id, usageOf),
        { state: 'validating', serving: false },
      ],
    ])('shows the %s before a concurrent activation or after it, never in between', async (_, read, before) => {
      await create({ buildId: await build() });
      const { desiredDeploymentId: id, id: agentId } = await show();
      const activateMeanwhile = async () => {
        await activateDeployment(context(), { id, agentId });
        return [];
      };
      const shown = await read(activateMeanwhile, id);
      expect(shown).toMatchObject(before);
      expect(shown).not.toMatchObject({ currentRevision: { phase: 'Active' } });
      expect((await list()).deployments).toMatchObject([{ state: 'ready', serving: true }]);
    });

    it.each([
      ['no build', {}, { reason: 'invalid-request', issues: [{ path: 'body.buildId' }] }],
      ['a missing build', { buildId: newId() }, { reason: 'build-not-usable' }],
      ['an unknown region', { region: 'moon' }, { reason: 'region-unknown' }],
      ['an image', { image: 'me/bot:1' }, { reason: 'not-supported', issues: [{ path: 'body.image' }] }],
      ['a repository', { git: { repo: 'x' } }, { reason: 'not-supported', issues: [{ path: 'body.git' }] }],
      ['resources', { resources: { cpu: '1' } }, { reason: 'not-supported', issues: [{ path: 'body.resources' }] }],
      ['an architecture', { architecture: 'arm64' }, { reason: 'not-supported' }],
      ['a filter', { krispViva: { audioFilter: 'tel' } }, { reason: 'not-supported' }],
      ['a pull secret', { imagePullSecretSet: 'hub' }, { reason: 'not-supported' }],
      ['a secret set', { secretSet: 'keys' }, { reason: 'secret-set-not-found', status: 404 }],
      [
        'more warm instances than allowed',
        { autoScaling: { minAgents: 9, maxAgents: 8 } },
        { reason: 'invalid-request' },
      ],
    ])('rejects a request with %s, and stores nothing', async (_, fields, failure) => {
      const named =
        'buildId' in fields || Object.keys(fields).length === 0 ? fields : { buildId: await build(), ...fields };
      await expect(create(named)).rejects.toMatchObject(failure);
      expect(await rows.db.selectFrom('agents').select('id').execute()).toEqual([]);
      expect(await rows.db.selectFrom('deployments').select('id').execute()).toEqual([]);
    });

    it.each([
      ['failed', () => build({ state: 'failed', prepared: null })],
      ['has not finished', () => build({ state: 'building', prepared: null, completed_at: null })],
      ['is in another region', () => build({ region: 'eu' })],
      ['is being removed', () => build({ removing: true })],
      ["is another organization's", async () => build({}, await rows.organization())],
    ])('returns the error for a missing build if the build %s', async (_, make) => {
      await expect(create({ buildId: await make() })).rejects.toMatchObject({
        reason: 'build-not-usable',
        status: 400,
      });
    });

    it('rejects a second agent of the same name in an organization', async () => {
      const buildId = await build();
      await create({ buildId });
      await expect(create({ buildId })).rejects.toMatchObject({ reason: 'agent-exists', status: 400 });
      const other = { ...scope, organizationId: await rows.organization('away') };
      const theirs = await build({}, other.organizationId);
      expect(await createAgent(context(), other, { serviceName: 'echo', buildId: theirs })).toBe('deployment');
    });

    it('accepts null for an unset field, because some clients send null', async () => {
      const fields = { krispViva: { audioFilter: null }, image: null, secretSet: null, forceRedeploy: null };
      expect(await create({ buildId: await build(), ...fields })).toBe('deployment');
    });
  });

  describe('updateAgent', () => {
    let first: string;
    beforeEach(async () => {
      await create({ buildId: await build(), autoScaling: { minAgents: 1 }, maxSessionDuration: 60 });
      first = await activate();
    });

    it('changes the build, keeps other settings, and serves the previous deployment until the new one is ready', async () => {
      const buildId = await build();
      expect(await update({ buildId })).toBe('deployment');
      expect(await serving()).toMatchObject({ deploymentId: first, maxSessionSeconds: 60 });
      const { desiredDeploymentId } = await show();
      expect(await show()).toMatchObject({
        ready: true,
        available: true,
        activeDeploymentReady: false,
        reconciledDeploymentId: first,
        activeDeploymentId: first,
        deployment: { buildId },
        currentRevision: { deploymentID: desiredDeploymentId, phase: 'Validating' },
        previousRevision: { deploymentID: first, phase: 'Active' },
        maxSessionDuration: 60,
      });
      expect(await activate()).toBe(desiredDeploymentId);
      expect(await serving()).toMatchObject({ deploymentId: desiredDeploymentId, maxSessionSeconds: 60 });
      expect(await getDeployment(rows, scope, 'echo', first, async () => [])).toMatchObject({ serving: false });
    });

    it('a session start that waits for the agent lock during an activation gets the newly active deployment', async () => {
      await update({ buildId: await build() });
      const { desiredDeploymentId: id } = await show();
      const waiting = async () =>
        (
          await sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
            where wait_event_type = 'Lock' and datname = current_database()`.execute(rows.db)
        ).rows[0]?.count;
      const started = await rows.db.transaction().execute(async (db) => {
        await lockAgentForSessionStart({ ...context(), db }, scope.organizationId, 'echo');
        const start = serving();
        await expect.poll(waiting).toBe(1);
        await activateValidatedDeployment(db, (await show()).id, id, clock);
        return { start };
      });
      expect(await started.start).toMatchObject({ deploymentId: id });
    });

    it('creates no deployment if nothing changed', async () => {
      const { deployment } = await show();
      expect(await update({ buildId: deployment.buildId?.toUpperCase(), maxSessionDuration: 60 })).toBe('none');
      expect(await update({})).toBe('none');
      expect((await list()).total_count).toBe(1);
    });

    it('creates a new deployment if forceRedeploy is true, even if nothing changed', async () => {
      expect(await update({ forceRedeploy: true })).toBe('deployment');
      expect((await list()).total_count).toBe(2);
      expect((await show()).deployment.buildId).toBe((await list()).deployments[1]?.buildId);
    });

    it.each([
      ['the profile', { agentProfile: 'agent-3x' }],
      ['the maximum session duration', { maxSessionDuration: 61 }],
      ['who may connect', { websocketAuth: 'none' }],
      ['what a WebSocket start answers', { websocketStart: 'minimal' }],
      ['whether instances are forked', { fork: false }],
    ])('creates a new deployment for a change of %s', async (_, fields) => {
      expect(await update(fields)).toBe('deployment');
      expect(await serving()).toMatchObject({ deploymentId: first });
    });

    it('changes the minimum and maximum number of instances immediately, without a new deployment', async () => {
      expect(await update({ autoScaling: { minAgents: 2, maxAgents: 4 } })).toBe('scaling');
      expect(await show()).toMatchObject({
        desiredDeploymentId: first,
        autoScaling: { minReplicas: 2, maxReplicas: 4 },
      });
      expect(await serving()).toMatchObject({ deploymentId: first, maxAgents: 4 });
    });

    it('changes the conversation level immediately, without a new deployment, and records the change', async () => {
      expect(await show()).toMatchObject({ conversation: { level: 'timings', maximumLevel: 'transcript' } });
      expect(await update({ conversation: { level: 'transcript' } })).toBe('conversation');
      expect(await update({ conversation: { level: 'transcript' } })).toBe('none');
      expect(await update({})).toBe('none');
      expect(await show()).toMatchObject({ desiredDeploymentId: first, conversation: { level: 'transcript' } });
      expect(await serving()).toMatchObject({ deploymentId: first, conversationLevel: 'transcript' });
      const events = await rows.db.selectFrom('audit_events').select('keys').execute();
      expect(events.map(({ keys }) => keys)).toContainEqual(['conversation_level timings > transcript']);
    });

    it('changes what bots remove from texts immediately, and keeps it until it is changed again', async () => {
      const redact = ['card', '/C-\\d{6}/'];
      expect(await update({ conversation: { redact } })).toBe('conversation');
      expect(await update({ conversation: { level: 'transcript' } })).toBe('conversation');
      expect(await update({ conversation: { redact } })).toBe('none');
      expect(await show()).toMatchObject({ conversation: { level: 'transcript', redact } });
      expect(await serving()).toMatchObject({ deploymentId: first, conversationRedact: redact });
      const events = await rows.db.selectFrom('audit_events').select('keys').execute();
      expect(events.map(({ keys }) => keys)).toContainEqual([`conversation_redact ${JSON.stringify(redact)}`]);
      expect(await update({ conversation: { redact: [] } })).toBe('conversation');
      expect(await serving()).toMatchObject({ conversationRedact: [] });
    });

    it('keeps the conversation level in a rollback', async () => {
      await update({ buildId: await build(), conversation: { level: 'off' } });
      await activate();
      await roll(first);
      expect(await show()).toMatchObject({ conversation: { level: 'off' } });
    });

    it('rejects a conversation level that the operator does not allow, and lowers that of existing agents', async () => {
      await update({ conversation: { level: 'transcript' } });
      maxConversationLevel = 'timings';
      await expect(update({ conversation: { level: 'transcript' } })).rejects.toMatchObject({
        reason: 'invalid-request',
        message: 'conversation.level: the operator of this service allows at most "timings"',
      });
      expect(await show()).toMatchObject({ conversation: { level: 'transcript', maximumLevel: 'timings' } });
      expect(await serving()).toMatchObject({ conversationLevel: 'timings' });
    });

    it('changes the maximum number of instances of both deployments during a rollout', async () => {
      await update({ buildId: await build() });
      expect(await update({ autoScaling: { maxAgents: 4 } })).toBe('scaling');
      expect(await serving()).toMatchObject({ deploymentId: first, maxAgents: 4 });
      await activate();
      expect(await serving()).toMatchObject({ maxAgents: 4 });
    });

    it.each([
      ['a maximum below the current minimum', { autoScaling: { maxAgents: 0 } }],
      ['a minimum above the current maximum', { autoScaling: { minAgents: 51 } }],
      ['a different region', { region: 'eu' }],
    ])('rejects a request with %s', async (_, fields) => {
      await expect(update(fields)).rejects.toMatchObject({ reason: 'invalid-request' });
    });

    it("accepts the agent's own region in the request", async () => {
      expect(await update({ region: 'us-west', serviceName: 'echo' })).toBe('none');
    });

    it('rejects an unknown build and keeps the serving deployment', async () => {
      await expect(update({ buildId: newId() })).rejects.toMatchObject({ reason: 'build-not-usable' });
      expect(await show()).toMatchObject({ desiredDeploymentId: first });
    });

    it('keeps the previous deployment serving after a deployment failed, and shows the error on the agent', async () => {
      await update({ buildId: await build() });
      const failed = await fail();
      expect(await serving()).toMatchObject({ deploymentId: first });
      const message = 'The bot exited. Last output of the bot: no (voice)';
      expect(await show()).toMatchObject({
        ready: true,
        activeDeploymentReady: false,
        desiredDeploymentId: failed,
        reconciledDeploymentId: failed,
        activeDeploymentId: first,
        errors: [{ code: 'PCC_BOT_EXITED', message }],
        conditions: [
          { type: 'Degraded', reason: 'ValidationFailed', message, lastTransitionTime: clock.toISOString() },
        ],
        currentRevision: {
          phase: 'Failed',
          health: { ready: false, state: 'terminated', reason: 'Error', lastExitCode: 3, restartCount: 1 },
        },
        previousRevision: { deploymentID: first, phase: 'Active' },
      });
      expect(await getDeployment(rows, scope, 'echo', failed, async () => [])).toMatchObject({
        state: 'failed',
        failure: { code: 'PCC_BOT_EXITED', message: 'The bot exited.', exitCode: 3, tail: 'no [voice]' },
      });
      // A late event does not reactivate the failed deployment.
      expect(await activateDeployment(context(), { id: failed, agentId: (await show()).id })).toBe(false);
      // After a failed deployment, an identical request creates a new deployment.
      expect(await update({})).toBe('deployment');
    });

    it('supersedes a pending deployment when a later deployment is created', async () => {
      await update({ buildId: await build() });
      const given = (await show()).desiredDeploymentId;
      await update({ buildId: await build() });
      expect(await activateDeployment(context(), { id: given, agentId: (await show()).id })).toBe(false);
      expect(await getDeployment(rows, scope, 'echo', given, async () => [])).toMatchObject({
        state: 'failed',
        failure: { code: 'PCC_SUPERSEDED' },
      });
      expect((await show()).errors).toEqual([]);
      await activate();
    });

    it('makes the last of several concurrent deployments the desired one, and supersedes the others', async () => {
      const builds = await Promise.all(Array.from({ length: 8 }, () => build()));
      await Promise.all(builds.map((buildId) => update({ buildId })));
      const { deployments, total_count: total } = await list();
      expect(total).toBe(9);
      const open = deployments.filter(({ state }) => state === 'validating');
      expect(open.map(({ id }) => id)).toEqual([(await show()).desiredDeploymentId]);
    });
  });

  describe('rollBack', () => {
    let first: string;
    let second: string;
    beforeEach(async () => {
      await create({ buildId: await build(), maxSessionDuration: 60 });
      first = await activate();
      await update({ buildId: await build(), maxSessionDuration: 120, autoScaling: { maxAgents: 7 } });
      second = await activate();
    });
    const deployment = (id: string) => getDeployment(rows, scope, 'echo', id, async () => []);

    it('creates a new deployment with the build and settings of the previous deployment', async () => {
      await roll();
      expect(await serving()).toMatchObject({ deploymentId: second });
      const third = await activate();
      expect(third).not.toBe(first);
      expect(await deployment(third)).toMatchObject({
        rolledBackFrom: first,
        buildId: (await deployment(first)).buildId,
        contentHash: (await deployment(first)).contentHash,
      });
      expect(await serving()).toMatchObject({ deploymentId: third, maxSessionSeconds: 60, maxAgents: 50 });
      await roll();
      expect((await show()).deployment.buildId).toBe((await deployment(second)).buildId);
    });

    it('rolls back to the serving deployment during a rollout', async () => {
      await update({ buildId: await build() });
      await roll();
      expect(await deployment((await show()).desiredDeploymentId)).toMatchObject({ rolledBackFrom: second });
    });

    it('rolls back to the serving deployment after a later deployment failed', async () => {
      await update({ buildId: await build() });
      await fail();
      expect(await getRollbackTarget(context(), scope, 'echo', async () => [])).toMatchObject({ id: second });
      await roll();
      expect(await deployment((await show()).desiredDeploymentId)).toMatchObject({ rolledBackFrom: second });
    });

    it('finds no rollback target for the id of an agent, because a rollback needs the name', async () => {
      const { id } = await show();
      const failure = { reason: 'not-found' };
      await expect(rollBack(context(), scope, id, null)).rejects.toMatchObject(failure);
      await expect(getRollbackTarget(context(), scope, id, async () => [])).rejects.toMatchObject(failure);
    });

    it('rolls back to any deployment that the request names, even the serving one', async () => {
      await roll(second);
      expect(await deployment((await show()).desiredDeploymentId)).toMatchObject({ rolledBackFrom: second });
    });

    it.each([
      ['does not exist', async () => newId()],
      [
        'belongs to another agent',
        async () => rows.deployment(await rows.agent(scope.organizationId, { name: 'other' })),
      ],
    ])('rejects a deployment that %s', async (_, id) => {
      await expect(roll(await id())).rejects.toMatchObject({ reason: 'deployment-not-found', status: 404 });
    });

    it('rejects a deployment whose build was removed', async () => {
      const { buildId } = await deployment(first);
      await rows.db.deleteFrom('builds').where('id', '=', buildId).execute();
      await expect(roll()).rejects.toMatchObject({ reason: 'deployment-unavailable', status: 409 });
      expect(await show()).toMatchObject({ desiredDeploymentId: second });
    });

    it('rejects a request that names no deployment if no earlier deployment exists', async () => {
      await createAgent(context(), scope, { serviceName: 'young', buildId: await build() });
      const failure = { reason: 'no-earlier-deployment' };
      await expect(rollBack(context(), scope, 'young', null)).rejects.toMatchObject(failure);
      await expect(getRollbackTarget(context(), scope, 'young', async () => [])).rejects.toMatchObject(failure);
    });

    it('rolls back to a deployment from a directory only if the directory is unchanged', async () => {
      const agentId = await rows.agent(scope.organizationId, { name: 'folder' });
      const source = (contentHash: string) => JSON.stringify({ kind: 'directory', path: '/x', contentHash });
      await rows.deployment(agentId, { source: source('old'), activated_at: secondsAgo(60) });
      const kept = await rows.deployment(agentId, { source: source('hash'), activated_at: secondsAgo(50) });
      await rows.deployment(agentId, { source: source('new'), activated_at: secondsAgo(40) });
      await rollBack(context(), scope, 'folder', kept);
      expect((await show('folder')).currentRevision).toMatchObject({ phase: 'Creating' });
      const oldest = (await listDeployments(rows, scope, 'folder', paging, async () => [])).deployments.at(-1);
      expect(oldest?.contentHash).toBe('old');
      await expect(rollBack(context(), scope, 'folder', oldest?.id ?? '')).rejects.toMatchObject({
        reason: 'deployment-unavailable',
      });
    });
  });

  describe('deleteAgent', () => {
    it("frees the agent's name, keeps its deployments available by id, and prevents new sessions", async () => {
      await create({ buildId: await build() });
      await activate();
      const id = await deleteAgent(context(), scope, 'echo');
      expect(await serving()).toBe('not-found');
      for (const verb of [() => show(), () => update({}), () => roll(), () => deleteAgent(context(), scope, 'echo')]) {
        await expect(verb()).rejects.toMatchObject({ reason: 'not-found' });
      }
      expect((await listDeployments(rows, scope, id, paging, async () => [])).deployments).toMatchObject([
        { serving: false },
      ]);
      await create({ buildId: await build() });
      expect((await show()).id).not.toBe(id);
      expect((await list()).total_count).toBe(1);
    });

    it('prevents the activation of a pending deployment', async () => {
      await create({ buildId: await build() });
      const { desiredDeploymentId: id } = await show();
      const agentId = await deleteAgent(context(), scope, 'echo');
      expect(await activateDeployment(context(), { id, agentId })).toBe(false);
    });
  });

  it('have a list of deployments, newest first, in stable pages', async () => {
    await create({ buildId: await build() });
    for (let count = 0; count < 4; count += 1) await update({ forceRedeploy: true });
    const all = (await list()).deployments.map(({ id }) => id);
    expect(all).toHaveLength(5);
    const page = (query: object) =>
      listDeployments(rows, scope, 'echo', { ...paging, limit: 2, ...query }, async () => []);
    const one = await page({});
    await update({ forceRedeploy: true });
    const two = await page({ cursor: one.nextCursor ?? '' });
    const three = await page({ cursor: two.nextCursor ?? '' });
    expect([...one.deployments, ...two.deployments, ...three.deployments].map(({ id }) => id)).toEqual(all);
    expect(three.nextCursor).toBeNull();
    expect((await page({ offset: 5 })).deployments.map(({ id }) => id)).toEqual([all[4]]);
    await expect(page({ cursor: 'x' })).rejects.toMatchObject({ reason: 'invalid-request' });
    await expect(getDeployment(rows, scope, 'echo', 'x', async () => [])).rejects.toMatchObject({
      reason: 'deployment-not-found',
    });
  });
});
