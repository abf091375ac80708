import type { ObservedInstance } from '@bothost/runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createTestDatabaseRows,
  type DeployedAgent,
  secondsAgo,
  type TestDatabaseRows,
  testNow,
} from '../../test/support/test-rows.ts';
import { newId } from '../store/uuid.ts';
import { createActionExecutor } from './execute.ts';
import { readObservedState } from './observe.ts';
import type { ReconcileAction } from './plan.ts';

const unobservedEndAt = secondsAgo(7);

let rows: TestDatabaseRows;
let of: DeployedAgent;
let calls: unknown[][];
beforeEach(async () => {
  rows = await createTestDatabaseRows();
  calls = [];
  of = await rows.deployedAgent();
});
afterEach(() => rows.close());

/** Returns a fake function that records its calls. */
const note =
  (name: string) =>
  async (...parameters: readonly unknown[]) =>
    void calls.push([name, ...parameters]);

/** Executes an action with the current database rows. Everything except the database is a fake. */
async function execute(
  action: ReconcileAction,
  { busyInstance = '', observed = null as ObservedInstance['state'] | null, isExitUnrecorded = false } = {},
): Promise<void> {
  const host = { id: of.hostId, region: 'us-west' };
  const shared = { db: rows.db, now: () => testNow, host, retryWrite: <T>(write: () => Promise<T>) => write() };
  const { rows: found } = await readObservedState(
    { ...shared, runtime: { list: async () => [], findReplaceable: () => new Set() } },
    {
      isOwned: () => false,
      isBusyInstance: () => false,
      isBusyDeployment: () => false,
      restAfterFailureUntil: () => null,
      serverId: newId(),
      draining: false,
    },
  );
  await createActionExecutor({
    ...shared,
    newId,
    runtime: {
      discard: note('discard'),
      stop: note('stop'),
      forget: note('forget'),
      inspect: async (instanceId) =>
        observed === null ? null : { instanceId, deploymentId: of.deploymentId, state: observed, address: null },
    },
    preparer: { prepare: note('prepare') },
    validation: { passed: note('passed') },
    runner: {
      start: async (row, deployment) => void calls.push(['start instance', row.id, deployment.id]),
      stop: async (row, transport) => void calls.push(['stop instance', row.id, transport]),
      isBusy: (id) => id === busyInstance,
    },
    adoptSession: async (row, instance) => void calls.push(['adopt', row.id, instance.id]),
    endSession: note('end session'),
    instanceRemoved: note('instance removed'),
    unobservedEndAt: () => unobservedEndAt,
    isExitUnrecorded: () => isExitUnrecorded,
    requestReconcile: () => void calls.push(['reconcile']),
  })(action, found);
}
const instances = () => rows.db.selectFrom('instances').select(['id', 'state']).execute();

describe('the executor', () => {
  it('starts an instance with its deployment, unless a start or stop of the instance is in progress', async () => {
    const instanceId = await rows.instance(of, { state: 'starting' });
    await execute({ do: 'start-instance', instanceId }, { busyInstance: instanceId });
    expect(calls).toEqual([]);
    await execute({ do: 'start-instance', instanceId });
    expect(calls).toEqual([['start instance', instanceId, of.deploymentId]]);
  });

  it('stops a lost instance, then records the estimated end time of the instance', async () => {
    const instanceId = await rows.instance(of);
    await execute({ do: 'instance-lost', instanceId });
    expect(calls).toEqual([
      ['stop', instanceId, 0],
      ['instance removed', instanceId, 'HTTP_ERROR', null, unobservedEndAt],
    ]);
  });

  it.each(['starting', 'ready', 'leaving', 'exited'] as const)(
    'does not record an instance as lost that the runtime reports as %s when asked again',
    async (observed) => {
      await execute({ do: 'instance-lost', instanceId: await rows.instance(of) }, { observed });
      expect(calls).toEqual([]);
    },
  );

  it('records an exited instance as lost if its exit event could not be recorded', async () => {
    const instanceId = await rows.instance(of);
    await execute({ do: 'instance-lost', instanceId }, { observed: 'exited', isExitUnrecorded: true });
    expect(calls).toEqual([
      ['stop', instanceId, 0],
      ['instance removed', instanceId, 'HTTP_ERROR', null, unobservedEndAt],
    ]);
  });

  it('keeps an instance that seemed orphaned if it has an open row by now', async () => {
    await execute({ do: 'remove-orphan', instanceId: await rows.instance(of) });
    expect(calls).toEqual([]);
  });

  it('stops an orphaned instance before it removes the files of the instance', async () => {
    const instanceId = newId();
    await execute({ do: 'remove-orphan', instanceId });
    expect(calls).toEqual([
      ['stop', instanceId, 0],
      ['forget', instanceId],
    ]);
  });

  it('provisions instances up to max_agents, and requests no reconcile pass if none is missing', async () => {
    const provision = { do: 'provision', deploymentId: of.deploymentId, idle: 5 } as const;
    await execute(provision);
    await execute(provision);
    expect(await instances()).toMatchObject([{ state: 'starting' }, { state: 'starting' }]);
    expect(calls).toEqual([['reconcile']]);
  });

  it('provisions one instance above max_agents to replace an idle one, and not a second one', async () => {
    for (const _ of [1, 2]) await rows.instance(of);
    const provision = { do: 'provision', deploymentId: of.deploymentId, idle: 3, replaces: true } as const;
    await execute(provision);
    await execute(provision);
    expect((await instances()).map(({ state }) => state).sort()).toEqual(['ready', 'ready', 'starting']);
  });

  it('retires an idle instance, but not an instance with a session', async () => {
    const idle = await rows.instance(of);
    const claimed = await rows.instance(of, { session_id: await rows.session(of) });
    await execute({ do: 'retire-instance', instanceId: claimed });
    expect(calls).toEqual([]);
    await execute({ do: 'retire-instance', instanceId: idle });
    expect(calls).toEqual([['reconcile']]);
    expect(await instances()).toEqual(
      expect.arrayContaining([
        { id: idle, state: 'stopping' },
        { id: claimed, state: 'ready' },
      ]),
    );
  });

  it('does nothing for an action whose instance, deployment or session has no row', async () => {
    const [instanceId, deploymentId, sessionId] = [newId(), newId(), newId()];
    await execute({ do: 'start-instance', instanceId });
    await execute({ do: 'stop-instance', instanceId });
    await execute({ do: 'provision', deploymentId, idle: 1 });
    await execute({ do: 'adopt-session', sessionId });
    expect(calls).toEqual([]);
  });
});
