import { pino } from 'pino';
import { expect, it } from 'vitest';
import { insertTestBuild } from '../../test/support/build-rows.ts';
import { testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { listDeploymentsToReconcile } from '../agents/deployment-state.ts';
import { createBackoff } from './backoff.ts';
import { createDeploymentPreparer } from './deployment-preparer.ts';
import { createDeploymentOutcomeWaiters } from './outcomes.ts';

const rows = await useTestRows();

it.each([
  ['takes the project of a repeated build', { state: 'success', prepared: '{"project":"new"}' }, 'validating', null],
  ['fails with the error of a repeated build', { state: 'failed', error: 'no space' }, 'failed', /backup: no space/],
] as const)('%s', async (_, build, state, error) => {
  const organizationId = await rows.organization();
  const { id: buildId } = await insertTestBuild(rows.db, organizationId, { ...build, completed_at: testNow });
  const agentId = await rows.agent(organizationId);
  const source = JSON.stringify({ kind: 'build', buildId, contentHash: 'hash' });
  const id = await rows.deployment(agentId, { state: 'preparing', prepared: null, build_id: buildId, source });
  const now = () => testNow;
  const preparer = createDeploymentPreparer({
    db: rows.db,
    now,
    logger: pino({ level: 'silent' }),
    host: { region: 'us-west', accepts: 'build' },
    runtime: { prepare: () => Promise.reject(new Error('a build is not prepared here')) },
    pullImage: () => Promise.reject(new Error('a build has no image')),
    closing: new AbortController().signal,
    backoff: createBackoff(now),
    outcomes: createDeploymentOutcomeWaiters<string | null>(),
    retryWrite: (write) => write(),
  });
  const row = (await listDeploymentsToReconcile(rows.db, 'us-west', [])).find((one) => one.id === id);
  if (row === undefined) throw new Error('The deployment is not open.');
  await preparer.prepare(row);
  const stored = await rows.find('deployments', id);
  expect(stored).toMatchObject({
    state,
    prepared: error === null ? { project: 'new' } : null,
    error: error === null ? null : expect.stringMatching(error),
  });
});
