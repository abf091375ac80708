import { mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashDirectory } from '@bothost/runtime/directory-hash';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabaseRows, type TestDatabaseRows, testNow } from '../../test/support/test-rows.ts';
import { createPutSecretsRequest, createTestVault } from '../../test/support/test-vault.ts';
import { newId } from '../store/uuid.ts';
import type { DeploymentInstanceCounts } from './deployment-response.ts';
import { activateDeployment, failDeployment, recordPreparedProject, recordStartProblem } from './deployment-state.ts';
import { createAgentFromProjectDirectory } from './from-directory.ts';
import { serveDirectoriesAsAgents } from './serve-directories.ts';
import { lockAgentForSessionStart } from './serving-deployment.ts';
import { getAgent, listAgents } from './show.ts';

const logger = pino({ level: 'silent' });

describe('a service with agent directories', () => {
  let rows: TestDatabaseRows;
  let vault: Awaited<ReturnType<typeof createTestVault>>;
  let organizationId: string;
  let directory: string;
  let running: DeploymentInstanceCounts[];

  beforeEach(async () => {
    running = [];
    rows = await createTestDatabaseRows();
    vault = await createTestVault(rows);
    organizationId = await rows.organization('home');
    directory = await realpath(await mkdtemp(join(tmpdir(), 'bothost-agent-')));
    await write('main.js', '1');
    await write('deploy.toml', 'agent_name = "echo"\n[scaling]\nmax_agents = 7');
  });
  afterEach(async () => {
    await rows.close();
    await rm(directory, { recursive: true, force: true });
  });

  const write = (name: string, text: string) => writeFile(join(directory, name), text);
  const context = () => ({
    db: rows.db,
    now: () => testNow,
    newId,
    hashDirectory,
    logger,
    maxConversationLevel: 'transcript' as const,
    host: { region: 'us-west' },
  });
  const start = () => createAgentFromProjectDirectory(context(), organizationId, 'us-west', directory);
  const scope = () => ({ organizationId, organizationName: 'home' });
  const show = () => getAgent(context(), scope(), 'echo', async () => running);
  async function agentId() {
    return (await show()).id;
  }
  const ready = async (id: string) => {
    await recordPreparedProject(context(), id, { at: 'x' });
    await activateDeployment(context(), { id, agentId: await agentId() });
  };
  const failed = async (id: string, message: string) =>
    failDeployment(context(), { id, agentId: await agentId() }, { code: 'PCC_PREPARE_FAILED', message, exit: null });
  const serving = () =>
    rows.db.transaction().execute((db) => lockAgentForSessionStart({ ...context(), db }, organizationId, 'echo'));

  it('creates an agent for a new directory, with a deployment in the state "preparing"', async () => {
    const made = await start();
    expect(made).toMatchObject({ name: 'echo', changed: true, prepared: false });
    const stored = await rows.db.selectFrom('deployments').selectAll().executeTakeFirstOrThrow();
    expect(stored).toMatchObject({
      id: made.deploymentId,
      state: 'preparing',
      max_agents: 7,
      source: { kind: 'directory', path: directory, contentHash: await hashDirectory(directory) },
    });
    expect(await serving()).toBe('not-ready');
  });

  it('pins the secret set of the deploy file once the set is ready, and keeps the serving deployment until then', async () => {
    const first = await start();
    await ready(first.deploymentId);
    await write('deploy.toml', 'agent_name = "echo"\nsecret_set = "keys"');
    const missing = /secret_set: Secret set "keys" does not exist in region .*\. The next start/;
    await expect(start()).rejects.toMatchObject({ name: 'DeployFileError', message: expect.stringMatching(missing) });
    await vault.put(organizationId, 'keys', createPutSecretsRequest({ A: '1' }));
    await expect(start()).rejects.toMatchObject({ message: expect.stringContaining('still pending') });
    expect(await serving()).toMatchObject({ deploymentId: first.deploymentId });
    await vault.deliver();
    expect(await start()).toMatchObject({ changed: true });
    const { desiredDeploymentId: id } = await show();
    const stored = await rows.db.selectFrom('deployments').select('secret_pins').where('id', '=', id).execute();
    expect(stored).toMatchObject([{ secret_pins: [{ secretSet: 'keys', revision: 1 }] }]);
  });

  it('serves a directory whose conversation level is above the limit of the operator, with the limit for its sessions', async () => {
    await write('deploy.toml', 'agent_name = "echo"\n[conversation]\nlevel = "transcript"\nredact = ["card"]');
    await ready((await start()).deploymentId);
    const conversation = { level: 'transcript', maximumLevel: 'transcript', redact: ['card'] };
    expect((await show()).conversation).toEqual(conversation);
    const limited = { ...context(), maxConversationLevel: 'timings' as const };
    const session = rows.db
      .transaction()
      .execute((db) => lockAgentForSessionStart({ ...limited, db }, organizationId, 'echo'));
    await expect(session).resolves.toMatchObject({ conversationLevel: 'timings' });
  });

  it('changes nothing on a restart if the directory is unchanged', async () => {
    const { deploymentId } = await start();
    expect(await start()).toMatchObject({ deploymentId, changed: false, prepared: false });
    await ready(deploymentId);
    expect(await start()).toMatchObject({ deploymentId, changed: false, prepared: true });
  });

  it('deploys a directory again after it was moved', async () => {
    const { deploymentId } = await start();
    await ready(deploymentId);
    const former = directory;
    directory = `${former}-moved`;
    await rename(former, directory);
    expect(await start()).toMatchObject({ changed: true, prepared: false });
    await rename(directory, former);
    directory = former;
  });

  it.each([
    ['content', () => write('main.js', '2')],
    ['deploy.toml', () => write('deploy.toml', 'agent_name = "echo"')],
    ['an additional file', () => write('more.js', '')],
  ])(
    'creates a new deployment for a changed directory (%s), and serves the previous one until the new one is ready',
    async (_, change) => {
      const first = await start();
      await ready(first.deploymentId);
      await change();
      const second = await start();
      expect(second).toMatchObject({ name: 'echo', changed: true, prepared: false });
      expect(await serving()).toMatchObject({ deploymentId: first.deploymentId });
      await ready(second.deploymentId);
      expect(await serving()).toMatchObject({ deploymentId: second.deploymentId });
      expect(await listAgents(rows, scope(), { includeActiveDeployment: false, region: undefined })).toHaveLength(1);
    },
  );

  it('keeps the previous deployment after a failed preparation, shows the error, and retries at its next start', async () => {
    const first = await start();
    await ready(first.deploymentId);
    await write('main.js', '2');
    const second = await start();
    await failed(second.deploymentId, 'package.json has no "main" [at all]');
    expect(await serving()).toMatchObject({ deploymentId: first.deploymentId });
    expect(await show()).toMatchObject({
      ready: true,
      activeDeploymentReady: false,
      desiredDeploymentId: second.deploymentId,
      activeDeploymentId: first.deploymentId,
      errors: [{ message: 'package.json has no "main" (at all)' }],
      conditions: [{ type: 'Degraded', reason: 'PrepareFailed' }],
    });
    const third = await start();
    expect(third).toMatchObject({ changed: true });
    expect(third.deploymentId).not.toBe(second.deploymentId);
  });

  it('does not activate a deployment that a later deployment superseded', async () => {
    const first = await start();
    await write('main.js', '2');
    const second = await start();
    await ready(second.deploymentId);
    await ready(first.deploymentId);
    expect(await serving()).toMatchObject({ deploymentId: second.deploymentId });
  });

  it('keeps a deployment made by a user until the directory changes', async () => {
    await ready((await start()).deploymentId);
    const other = await rows.deployment(await agentId(), {
      source: JSON.stringify({ kind: 'build', buildId: newId(), contentHash: 'x' }),
      build_id: newId(),
      created_at: testNow,
    });
    expect(await start()).toMatchObject({ deploymentId: other, changed: false, prepared: true });
    await write('main.js', '2');
    expect(await start()).toMatchObject({ changed: true });
  });

  it('creates one agent and one deployment if several servers start concurrently', async () => {
    const starts = await Promise.all([start(), start(), start()]);
    expect(new Set(starts.map(({ deploymentId }) => deploymentId)).size).toBe(1);
    expect(await rows.db.selectFrom('agents').select('name').execute()).toEqual([{ name: 'echo' }]);
  });

  it('recognizes a directory behind a symbolic link as the same directory', async () => {
    const { deploymentId } = await start();
    const link = `${directory}-link`;
    await symlink(directory, link);
    const again = await createAgentFromProjectDirectory(context(), organizationId, 'us-west', link).finally(() =>
      rm(link),
    );
    expect(again).toMatchObject({ deploymentId, changed: false });
  });

  it('creates a new agent if the agent of the directory was deleted', async () => {
    await start();
    const old = await agentId();
    await rows.db.updateTable('agents').set({ deleted_at: testNow }).execute();
    await start();
    expect(await agentId()).not.toBe(old);
  });

  it('reports a directory that cannot be served, and serves the other directories', async () => {
    const missing = join(directory, 'missing');
    const served = await serveDirectoriesAsAgents(context(), organizationId, 'us-west', [missing, directory]);
    expect(served).toEqual([
      { name: missing, problem: expect.stringContaining('ENOENT'), preparing: null },
      { name: 'echo', problem: null, preparing: expect.any(String) },
    ]);
  });

  it('serves the included parrot agent by default, and no agent if the list of directories is empty', async () => {
    const [parrot] = await serveDirectoriesAsAgents(context(), organizationId, 'us-west', undefined);
    expect(parrot).toMatchObject({ name: 'parrot', problem: null });
    expect(await serveDirectoriesAsAgents(context(), organizationId, 'us-west', [])).toEqual([]);
  });

  describe('getAgent and listAgents', () => {
    it('show the serving and the desired deployment and instance counts', async () => {
      const { deploymentId } = await start();
      expect(await show()).toMatchObject({
        ready: false,
        available: false,
        activeDeploymentId: null,
        currentRevision: { deploymentID: deploymentId, phase: 'Creating' },
        conditions: [{ type: 'Progressing' }],
      });
      await ready(deploymentId);
      running = [{ deploymentId, activeSessions: 1, ready: 3, idle: 2, starting: 3, waits: null }];
      expect(await show()).toMatchObject({
        name: 'echo',
        organizationId,
        ready: true,
        available: true,
        activeDeploymentReady: true,
        activeDeploymentId: deploymentId,
        autoScaling: { minReplicas: 0, maxReplicas: 7 },
        activeSessionCount: 1,
        idleInstanceCount: 2,
        startingInstanceCount: 3,
        agentProfile: 'agent-1x',
        maxSessionDuration: 7200,
        websocketAuth: 'token',
        deployment: {
          id: deploymentId,
          manifest: {
            metadata: { name: 'echo', namespace: 'home' },
            spec: { resources: { cpu: '500m', memory: '1024Mi' }, maxSessionDurationSeconds: 7200 },
          },
        },
        currentRevision: { deploymentID: deploymentId, phase: 'Active', readyReplicas: 3 },
        errors: [],
        conditions: [],
      });
    });

    it('show why instances fail to start, until instances start again', async () => {
      const { deploymentId } = await start();
      await ready(deploymentId);
      const exit = { code: 1, signal: null, outOfMemory: false, tail: '[oops]' };
      await recordStartProblem(context(), deploymentId, { code: 'PCC_BOT_EXITED', message: 'It exited.', exit });
      expect(await show()).toMatchObject({
        ready: true,
        conditions: [
          { type: 'Degraded', reason: 'InstancesFailToStart', message: 'It exited. Last output of the bot: (oops)' },
        ],
      });
      await recordStartProblem(context(), deploymentId, null);
      expect(await show()).toMatchObject({ conditions: [] });
    });

    it('list agents sorted by name, filter them by region, and omit agents of other organizations', async () => {
      const { deploymentId } = await start();
      await ready(deploymentId);
      const other = await rows.agent(organizationId, { name: 'alpha', region: 'eu' });
      await rows.deployment(other);
      await rows.deployment(await rows.agent(await rows.organization(), { name: 'theirs' }));
      const list = async (region?: string, includeActiveDeployment = false) =>
        listAgents(rows, scope(), { includeActiveDeployment, region });
      expect((await list()).map(({ name }) => name)).toEqual(['alpha', 'echo']);
      expect((await list('eu')).map(({ name }) => name)).toEqual(['alpha']);
      expect(await list('moon')).toEqual([]);
      expect((await list())[1]).not.toHaveProperty('deployment');
      expect((await list(undefined, true))[1]).toMatchObject({ deployment: { id: deploymentId } });
    });

    it.each(['nobody', '', newId()])('return 404 for an agent that does not exist (%j)', async (name) => {
      await expect(getAgent(context(), scope(), name, async () => running)).rejects.toMatchObject({
        reason: 'not-found',
      });
    });

    it('return 404 for a deleted agent, by name and by id', async () => {
      await start();
      const id = await agentId();
      await rows.db.updateTable('agents').set({ deleted_at: testNow }).execute();
      for (const name of ['echo', id]) {
        await expect(getAgent(context(), scope(), name, async () => running)).rejects.toMatchObject({
          reason: 'not-found',
        });
      }
    });
  });
});
