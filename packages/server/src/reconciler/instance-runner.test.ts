import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { createTestRows, testNow } from '../../test/support/test-rows.ts';
import { createTestVault } from '../../test/support/test-vault.ts';
import { listOpenDeployments } from '../agents/deployment.ts';
import { findInstance, markReady } from '../instances/lifecycle.ts';
import { createInstanceRunner, type RunnerContext } from './instance-runner.ts';
import { createSessionOwnership } from './session-ownership.ts';

it('the instance runner does not start an instance that became ready after its row was read', async () => {
  const rows = await createTestRows();
  onTestFinished(() => rows.close());
  const now = () => testNow;
  const agentId = await rows.agent(await rows.organization());
  const of = { agentId, deploymentId: await rows.deployment(agentId), hostId: await rows.host() };
  const instanceId = await rows.instance(of, { state: 'starting', host: null, port: null, ready_at: null });
  const before = await findInstance(rows.db, instanceId);
  const [deployment] = await listOpenDeployments(rows.db, 'us-west', [of.deploymentId]);
  if (before === undefined || deployment === undefined) throw new Error('The rows are missing.');
  await markReady({ db: rows.db, now }, instanceId, { host: '127.0.0.1', port: 40_000 }, true);

  const started: string[] = [];
  const context: RunnerContext = {
    db: rows.db,
    now,
    logger: pino({ level: 'silent' }),
    runtime: {
      start: async (spec) => {
        started.push(spec.instanceId);
        return { host: '127.0.0.1', port: 40_000 };
      },
      stop: async () => undefined,
    },
    key: randomBytes(32),
    ownership: createSessionOwnership(),
    startInTurn: (_organizationId, _signal, start) => start(),
    validation: { started: async () => undefined, startFailed: async () => undefined },
    keyring: (await createTestVault(rows)).context.keyring,
    retryWrite: (write) => write(),
    iceConfigUrl: () => 'http://127.0.0.1/ice',
    onReady: () => undefined,
    onRemoved: async () => undefined,
  };
  const runner = createInstanceRunner(context);
  await runner.start(before, deployment);
  expect(started).toEqual([]);
  expect(runner.isBusy(instanceId)).toBe(false);
});
