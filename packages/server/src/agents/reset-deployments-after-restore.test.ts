import { expect, it } from 'vitest';
import { type TestDatabaseRows, testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { newId } from '../store/uuid.ts';
import { resetDeploymentsAfterRestore } from './reset-deployments-after-restore.ts';

type State = 'preparing' | 'validating' | 'ready' | 'failed';
const rows = await useTestRows();
const organizationId = await rows.organization();

/**
 * Creates an agent whose serving and desired deployments have the given states. If `active` is null, no deployment
 * serves. If `desired` is null, the serving deployment is also the desired one.
 */
async function agentWith(
  active: State | null,
  desired: State | null,
  fields: Parameters<TestDatabaseRows['agent']>[1] = {},
) {
  const id = await rows.agent(organizationId, { name: `a${newId()}`.slice(0, 30), ...fields });
  const activeId = active === null ? null : await rows.deployment(id, { state: active });
  const desiredId = desired === null ? activeId : await rows.deployment(id, { state: desired });
  const change = { active_deployment_id: activeId, desired_deployment_id: desiredId };
  await rows.update('agents', id, change);
  return { id, activeId, desiredId };
}

const stateOf = async (id: string | null) =>
  (await rows.db.selectFrom('deployments').select('state').where('id', '=', id).executeTakeFirst())?.state ?? null;

it.each<[string, State | null, State | null, 'active' | 'desired', State | null, State | null]>([
  ['a serving deployment', 'ready', null, 'active', 'preparing', 'preparing'],
  [
    'a serving deployment, and cancels a deployment in progress',
    'ready',
    'validating',
    'active',
    'preparing',
    'failed',
  ],
  ['a serving deployment instead of a later failed deployment', 'ready', 'failed', 'active', 'preparing', 'failed'],
  ['a first deployment in progress', null, 'validating', 'desired', null, 'preparing'],
  ['no deployment if the first deployment failed', null, 'failed', 'desired', null, 'failed'],
])(
  'resetDeploymentsAfterRestore restarts the preparation of %s',
  async (_, active, desired, wanted, activeState, desiredState) => {
    const { id, activeId, desiredId } = await agentWith(active, desired);
    await resetDeploymentsAfterRestore({ db: rows.db, now: () => testNow }, 'us-west');
    const agent = await rows.db.selectFrom('agents').selectAll().where('id', '=', id).executeTakeFirst();
    expect(agent).toMatchObject({
      active_deployment_id: null,
      desired_deployment_id: wanted === 'active' ? activeId : desiredId,
    });
    expect([await stateOf(activeId), await stateOf(desiredId)]).toEqual([activeState, desiredState]);
  },
);

it.each([
  ['another region', { region: 'eu-west' }],
  ['a deleted agent', { deleted_at: testNow }],
])('resetDeploymentsAfterRestore does not change the deployment of %s', async (_, fields) => {
  const { activeId } = await agentWith('ready', null, fields);
  await resetDeploymentsAfterRestore({ db: rows.db, now: () => testNow }, 'us-west');
  expect(await stateOf(activeId)).toBe('ready');
});
