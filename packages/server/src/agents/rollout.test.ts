import { describe, expect, it } from 'vitest';
import { secondsAgo, testNow } from '../../test/support/test-rows.ts';
import type { DeploymentRow } from './deployment-rows.ts';
import { computeRollout } from './rollout.ts';

const deployment = (fields: Partial<DeploymentRow> = {}): DeploymentRow => ({
  id: 'new',
  agent_id: 'agent',
  source: { kind: 'build', buildId: 'build', contentHash: 'hash' },
  build_id: 'build',
  state: 'validating',
  state_at: secondsAgo(10),
  error: null,
  error_code: null,
  error_at: null,
  last_exit: null,
  restarts: 0,
  prepared: {},
  image_digest: null,
  image_pull_secret: null,
  image_layers: null,
  min_agents: 0,
  max_agents: 5,
  profile: 'agent-1x',
  max_session_seconds: 7200,
  transports: null,
  websocket_auth: 'token',
  websocket_start: 'full',
  fork: true,
  secret_pins: [],
  created_by_key_id: null,
  created_by: null,
  rolled_back_from: null,
  activated_at: null,
  replaced_at: null,
  created_at: secondsAgo(20),
  updated_at: secondsAgo(10),
  ...fields,
});
const serving = deployment({ id: 'old', state: 'ready', activated_at: secondsAgo(60) });
const served = deployment({ state: 'ready', activated_at: secondsAgo(5) });
const usage = (deploymentId: string, fields = {}) => [
  { deploymentId, activeSessions: 0, ready: 0, idle: 0, starting: 0, waits: null, ...fields },
];

/** Evaluates the fields of a rollout in the same order as existing clients. */
function reading(...args: Parameters<typeof computeRollout>) {
  const [desired, active] = args;
  const { reconciled, errors, conditions } = computeRollout(...args);
  if (errors.length > 0) return 'failed';
  if (reconciled !== desired.id) return 'waiting';
  return active !== undefined && conditions.every(({ type }) => type !== 'Progressing') ? 'ready' : 'progressing';
}

describe('a rollout is shown as', () => {
  it.each([
    ['waiting while the first deployment is prepared', deployment({ state: 'preparing' }), undefined, 'waiting'],
    ['waiting while the first deployment is validated', deployment(), undefined, 'waiting'],
    ['waiting while the previous deployment serves', deployment(), serving, 'waiting'],
    ['ready when the desired deployment serves', served, served, 'ready'],
    [
      'failed when the first deployment failed',
      deployment({ state: 'failed', error: 'It exited.' }),
      undefined,
      'failed',
    ],
    [
      'failed when the desired deployment failed and the previous one serves',
      deployment({ state: 'failed', error: 'It exited.' }),
      serving,
      'failed',
    ],
    ['waiting when the deployment began to serve between the two queries', served, serving, 'waiting'],
  ])('%s', (_, desired, active, expected) => {
    expect(reading(desired, active, undefined, [])).toBe(expected);
  });
});

describe('a revision of an agent', () => {
  const health = (row: DeploymentRow, fields = {}) =>
    computeRollout(row, row.state === 'ready' ? row : undefined, undefined, usage('new', fields)).currentRevision
      .health;
  const exit = { code: 3, signal: null, outOfMemory: false, tail: 'oh\n' };
  const troubled = {
    error: 'It exited.',
    error_code: 'PCC_BOT_EXITED',
    error_at: secondsAgo(3),
    last_exit: exit,
  } as const;

  it('is ready if its deployment serves, even without instances', () => {
    expect(health(served)).toMatchObject({ ready: true, state: 'running', replicasStarted: 0, reason: null });
  });

  it('has an infrastructure issue only after a failure of the service, not of the bot', () => {
    const ofRow = (row: DeploymentRow) =>
      computeRollout(row, row, undefined, []).currentRevision.hasInfrastructureIssue;
    expect(ofRow({ ...served, ...troubled })).toBe(false);
    expect(ofRow({ ...served, ...troubled, error_code: 'PCC_UNKNOWN_ERROR' })).toBe(true);
  });

  it('is waiting while the first instance starts', () => {
    expect(health(deployment(), { starting: 1 })).toMatchObject({ ready: false, state: 'waiting', replicasStarted: 1 });
  });

  it.each([
    ['once', { restarts: 1 }, 'Error'],
    ['a crash loop', { restarts: 2 }, 'CrashLoopBackOff'],
    ['out of memory', { restarts: 2, last_exit: { ...exit, outOfMemory: true } }, 'OOMKilled'],
  ])('shows why instances of a serving deployment fail to start: %s', (_, fields, reason) => {
    const row = { ...served, ...troubled, ...fields };
    expect(health(row)).toMatchObject({
      ready: false,
      state: 'waiting',
      reason,
      lastExitCode: 3,
      message: 'It exited.',
    });
    expect(computeRollout(row, row, undefined, []).conditions).toEqual([
      {
        type: 'Degraded',
        status: 'True',
        reason: 'InstancesFailToStart',
        message: 'It exited. Last output of the bot: oh',
        lastTransitionTime: secondsAgo(3).toISOString(),
      },
    ]);
  });

  it.each([
    ['the first instance of a new deployment waits', deployment(), undefined, ['Progressing', 'Progressing']],
    ['an instance of a serving deployment waits', served, served, ['Degraded']],
  ] as const)('shows what the platform says when %s', (_, desired, active, types) => {
    const waits = { at: secondsAgo(3).toISOString(), detail: 'no [free] node' };
    const { conditions } = computeRollout(desired, active, undefined, usage('new', { starting: 1, waits }));
    expect(conditions.map(({ type }) => type)).toEqual(types);
    expect(conditions.at(-1)).toMatchObject({
      reason: 'InstancesWait',
      message: 'no (free) node',
      lastTransitionTime: secondsAgo(3).toISOString(),
    });
  });

  it('shows the exit code of the last failure even after instances start again', () => {
    const row = { ...served, last_exit: exit, restarts: 4 };
    expect(health(row, { ready: 1, idle: 1 })).toMatchObject({
      ready: true,
      state: 'running',
      restartCount: 4,
      reason: null,
      lastExitCode: 3,
      lastTerminationReason: 'Error',
    });
  });

  it('is also returned for a draining deployment, with the time when the deployment was replaced', () => {
    const draining = deployment({ id: 'old', state: 'ready', activated_at: secondsAgo(60), replaced_at: testNow });
    const { previousRevision } = computeRollout(
      served,
      served,
      draining,
      usage('old', { activeSessions: 2, ready: 2 }),
    );
    expect(previousRevision).toMatchObject({
      deploymentID: 'old',
      phase: 'Draining',
      readyReplicas: 2,
      phaseStartedAt: testNow.toISOString(),
    });
  });
});
