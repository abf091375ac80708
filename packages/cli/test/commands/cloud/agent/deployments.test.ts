import { type AgentDetails, createApiError, type LogLine } from '@bothost/contract';
import { beforeEach, expect, test } from 'vitest';
import { simulatedDisconnectError } from '../../../fake-service/fake-service.ts';
import { agent, deployment, sessionId } from '../../../fake-service/records.ts';
import { startServiceWith, useCommands } from '../../use-commands.ts';

const earlier = {
  ...deployment,
  id: '01930000-0000-7000-8000-0000000000e1',
  serving: false,
  contentHash: '1'.repeat(64),
  activatedAt: '2026-11-20T15:00:00.000Z',
};
const failed = {
  ...deployment,
  id: '01930000-0000-7000-8000-0000000000e2',
  serving: false,
  state: 'failed' as const,
  activatedAt: null,
  failure: {
    code: 'PCC_BOT_EXITED' as const,
    message: 'It exited.',
    exitCode: 1,
    signal: null,
    outOfMemory: false,
    tail: 'Trace:\nno\n',
  },
};
const line: LogLine = {
  log: 'hello \u001b[2Jthere',
  timestamp: '2026-11-20T16:59:00.123000001Z',
  deploymentId: deployment.id,
  instanceId: deployment.id,
  sessionId,
  level: null,
};
const warning = { ...line, log: 'slow', level: 'WARNING' as const, timestamp: '2026-11-20T16:59:01.000000000Z' };
let deployments: (typeof deployment)[];
let rollbackTarget: typeof deployment | null;
let breaks: number;
let notices: { maskingIncomplete?: true; hiddenByRole?: true };
let found: AgentDetails;

const commands = useCommands('cloud agent', () =>
  startServiceWith({
    getAgent: () => found,
    listDeployments: () => ({ total_count: 3, deployments, nextCursor: null }),
    getDeployment: ({ params }) =>
      [failed, deployment, earlier].find(({ id }) => id === params['deploymentId']) ?? {
        ...earlier,
        id: params['deploymentId'] ?? '',
      },
    getRollbackTarget: () => {
      if (rollbackTarget === null) throw createApiError('no-earlier-deployment');
      return rollbackTarget;
    },
    rollback: () => ({ ...agent, change: 'deployment' }),
    deleteAgent: () => ({ status: 'OK', activeSessionCount: 2, id: agent.id }),
    getLogs: ({ query }) => {
      const total = { value: 3, relation: 'eq' as const };
      if (query['order'] === 'desc')
        return { total, logs: [warning, line], nextCursor: null, followCursor: '1', ...notices };
      if (breaks-- > 0) throw simulatedDisconnectError;
      return {
        total,
        logs: [{ ...line, log: `after ${query['cursor']}` }],
        nextCursor: query['cursor'] === '1' ? '2' : null,
        followCursor: null,
        maskingIncomplete: true,
      };
    },
  }),
);
const { run } = commands;
const answer = (isYes: boolean) => ({ terminal: true, answers: [isYes] });
const asked = () => commands.service.requests.map(({ operation }) => operation);
const rollbackBody = () => commands.service.requests.find(({ operation }) => operation === 'rollback')?.body;

beforeEach(() => {
  deployments = [failed, deployment, earlier];
  rollbackTarget = earlier;
  breaks = 0;
  notices = {};
  found = { ...agent, activeSessionCount: 2 };
});

test('deployments shows one row per deployment, with its state and the reason of a failure', async () => {
  const { stdout } = await run('deployments parrot', { wholeStderr: `${failed.id} failed: It exited.\n` });
  expect(stdout.split('\n').map((row) => row.split('\t').slice(0, 2))).toEqual([
    ['Deployment id', 'State'],
    [failed.id, 'failed'],
    [deployment.id, 'serving'],
    [earlier.id, 'ready'],
    [''],
  ]);
});

test('rollback shows the difference to the previous deployment, asks for confirmation, and waits for the rollout', async () => {
  const stderr = [`? Roll parrot back to ${earlier.id}?`, /code +000000000000 +.*->.* +.*111111111111/];
  await run('rollback parrot', { stderr }, answer(true));
  expect(rollbackBody()).toEqual({ deploymentId: earlier.id });
  await run(`rollback parrot --to ${earlier.id} --yes --json`, {
    json: { change: 'deployment', deployment: { state: 'ready' } },
  });
});

commands.table([
  ['rollback parrot', { status: 1, stderr: /\?\nNothing was changed\.\n$/ }, answer(false)],
  ['rollback parrot', { status: 2, stderr: '--yes' }],
  ['logs parrot', { hides: 'secret values' }],
]);

test.each([[''], [' --yes']])(
  'rollback --to the active version%s reports that nothing changes, without a question',
  async (yes) => {
    const stdout = 'Nothing changed: this version is already active';
    await run(`rollback parrot --to ${deployment.id}${yes}`, {
      stdout,
      requests: ['getAgent', 'getDeployment', 'getDeployment'],
    });
  },
);

test('rollback measures its duration with the monotonic clock', async () => {
  const timesMs = [1_000, 1_000];
  const monotonicMs = () => timesMs.shift() ?? 3_500;
  await run('rollback parrot --yes', { stdout: 'Active after 2.5 s' }, { monotonicMs });
});

test('rollback selects the deployment that still serves sessions after 100 failed deploys', async () => {
  found = { ...found, desiredDeploymentId: failed.id };
  deployments = Array.from({ length: 100 }, () => failed);
  rollbackTarget = deployment;
  await run('rollback parrot --yes', { stdout: 'Active after' });
  expect(rollbackBody()).toEqual({ deploymentId: deployment.id });
});

test('rollback exits with 1 without a previous deployment', async () => {
  rollbackTarget = null;
  await run('rollback parrot --yes', { status: 1, stderr: 'nothing to roll back to' });
  expect(asked()).not.toContain('rollback');
});

test('delete shows the number of live sessions, asks for confirmation, and requires --yes without a terminal', async () => {
  await run('delete parrot', { status: 2, stderr: '--yes' });
  await run('delete parrot', { status: 1, stderr: '2 live sessions will run to the end.' }, answer(false));
  expect(asked()).not.toContain('deleteAgent');
  await run('delete parrot --force', { stdout: 'Sessions still running\t2\n' });
});

test('logs prints matching lines oldest first, without escape sequences', async () => {
  await run(`logs parrot -s ${sessionId} -q Hello -l INFO --since 10m -n 2 -d ${deployment.id}`, {
    lastRequest: {
      query: {
        limit: '2',
        order: 'desc',
        sessionId,
        deploymentId: deployment.id,
        query: 'Hello',
        level: 'INFO',
        startTime: String(new Date('2026-11-20T16:50:00.000Z').getTime() / 1_000),
      },
    },
    wholeStdout: '2026-11-20T16:59:00.123Z\t00000a\t\thello there\n2026-11-20T16:59:01.000Z\t00000a\tWARNING\tslow\n',
    wholeStderr: 'Showing the last 2 of 3 lines. Show more with -n.\n',
  });
  expect(JSON.parse((await run('logs parrot --json')).stdout).logs).toEqual([line, warning]);
});

test('logs on a terminal colors warnings and shortens session IDs', async () => {
  const stdout = ['\u001b[33mWARNING  slow\u001b[39m', `\u001b[36m${sessionId.slice(-6)}\u001b[39m`];
  await run('logs parrot', { stdout, hides: '\u001b[2J' }, { terminal: true });
});

test('logs --follow continues after a short outage of the service, and exits when the log ends', async () => {
  breaks = 2;
  const { stdout } = await run('logs parrot --follow --json', {});
  const documents = stdout.trimEnd().split('\n');
  expect(documents.map((text) => JSON.parse(text).log)).toEqual([line.log, 'slow', 'after 1', 'after 2']);
});

test('logs warns once when secret values could not be decrypted', async () => {
  const stderr = /^warning: some secret values .*\n$/;
  await run('logs parrot --follow', { stderr });
  notices = { maskingIncomplete: true };
  await run('logs parrot --follow', { stderr });
  await run('logs parrot -n 2 --json', { stderr, json: { maskingIncomplete: true } });
});

test('logs says that the logs of some sessions are hidden from viewers', async () => {
  notices = { hiddenByRole: true };
  await run('logs parrot -n 2 --json', { stderr: 'viewers must not read them', json: { hiddenByRole: true } });
});

test('logs --follow --json exits with 130 after Ctrl-C and prints the error "interrupted" as its last line', async () => {
  breaks = Number.POSITIVE_INFINITY;
  const interruption = new AbortController();
  const follower = run('logs parrot --follow --json', { status: 130 }, { signal: interruption.signal });
  // Press Ctrl-C only after the second request. The command has then printed the first lines, so its JSON output has begun.
  await expect.poll(() => asked().filter((name) => name === 'getLogs').length).toBeGreaterThan(1);
  interruption.abort();
  const { stdout } = await follower;
  expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ error: { reason: 'interrupted' } });
});

test('status shows the failure, the last output of the bot, and the next steps', async () => {
  const health = {
    ready: false,
    state: 'terminated' as const,
    restartCount: 0,
    replicasStarted: 1,
    reason: 'Error',
    lastExitCode: 1,
    lastTerminationReason: null,
    message: null,
  };
  const revision = {
    deploymentID: failed.id,
    phase: 'Failed' as const,
    readyReplicas: 0,
    phaseStartedAt: agent.createdAt,
    hasInfrastructureIssue: false,
    health,
  };
  const errors = [{ code: 'PCC_BOT_EXITED', message: 'It exited. Last output of the bot: Trace:\nno' }];
  found = { ...agent, desiredDeploymentId: failed.id, currentRevision: revision, errors };
  await run('status parrot', {
    stdout: [
      'Error PCC_BOT_EXITED\tIt exited.\n',
      'Last output\tTrace:\nLast output\tno\n',
      `${failed.id}\tFailed\t0\tterminated\t${agent.createdAt}\tError, exit code 1\n`,
      `Roll back\tbotcli cloud agent rollback parrot --to ${agent.activeDeploymentId}\n`,
    ],
  });
});
