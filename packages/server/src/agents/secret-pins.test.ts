import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { insertTestBuild } from '../builds/test-build.ts';
import { deleteSecretSet } from '../secrets/delete.ts';
import { pairs, testVault } from '../secrets/test-vault.ts';
import { type TestRows, testNow, testRows } from '../store/test-rows.ts';
import { newId } from '../uuid.ts';
import { createAgent, updateAgent } from './deploy.ts';
import { agentsWithSecretSet } from './secret-users.ts';
import { getAgent } from './show.ts';

describe('an agent with secrets', () => {
  let rows: TestRows;
  let vault: Awaited<ReturnType<typeof testVault>>;
  let scope: { organizationId: string; organizationName: string; keyId: string };
  let buildId: string;

  beforeEach(async () => {
    rows = await testRows();
    vault = await testVault(rows);
    const organizationId = await rows.organization('home');
    scope = { ...vault.scopeOf(organizationId), organizationName: 'home' };
    await rows.host();
    const built = { state: 'success', prepared: '{"at":"x"}', completed_at: testNow } as const;
    buildId = (await insertTestBuild(rows.db, organizationId, built)).id;
  });
  afterEach(() => rows.close());

  const context = () => ({ db: rows.db, now: () => testNow, newId });
  const put = (values: Record<string, string>) => vault.put(scope.organizationId, 'keys', pairs(values));
  const create = () => createAgent(context(), scope, { serviceName: 'echo', buildId, secretSet: 'keys' });
  const update = (fields = {}) => updateAgent(context(), scope, 'echo', fields);
  const pins = async () => {
    const agent = await getAgent(rows, scope, 'echo', async () => []);
    const row = await rows.db
      .selectFrom('deployments')
      .select('secret_pins')
      .where('id', '=', agent.desiredDeploymentId)
      .executeTakeFirstOrThrow();
    return row.secret_pins.map(({ secretSet, revision }) => `${secretSet} ${revision}`);
  };

  it('is refused while they are missing or not ready, and pins their revision then', async () => {
    await expect(create()).rejects.toMatchObject({ reason: 'secret-set-not-found', status: 404 });
    await put({ A: '1' });
    await expect(create()).rejects.toMatchObject({ reason: 'secret-set-not-ready', status: 409 });
    await vault.deliver();
    await create();
    expect(await pins()).toEqual(['keys 1']);
  });

  it('is deployed anew when a secret changed, and not when none did', async () => {
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

  it('keeps them from being deleted', async () => {
    await put({ A: '1' });
    await vault.deliver();
    await create();
    const remove = (force: boolean) =>
      deleteSecretSet(vault.context, scope, 'keys', force, async (db, setId) =>
        (await agentsWithSecretSet(db, setId)).map(({ name }) => name),
      );
    await expect(remove(false)).rejects.toMatchObject({ reason: 'secret-set-in-use', status: 409 });
    expect(await remove(true)).toMatchObject({ agents: ['echo'] });
  });
});
