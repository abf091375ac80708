import type { AgentDetails, LogLine } from '@bothost/contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeService, simulatedDisconnectError, startFakeService } from '../../../fake-service/fake-service.ts';
import { agent, deployment, privateKey, publicKey, sessionId } from '../../../fake-service/records.ts';
import { type RunOptions, runProgram } from '../../../run-program.ts';

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
let service: FakeService;
let deployments: (typeof deployment)[];
let breaks: number;
let maskingIncomplete: { maskingIncomplete?: true };
let found: AgentDetails;

beforeEach(async () => {
  deployments = [failed, deployment, earlier];
  breaks = 0;
  maskingIncomplete = {};
  found = { ...agent, activeSessionCount: 2 };
  service = await startFakeService(
    { privateKey, publicKey },
    {
      getAgent: () => found,
      listDeployments: () => ({ total_count: 3, deployments, nextCursor: null }),
      getDeployment: ({ params }) =>
        found.currentRevision !== null
          ? failed
          : { ...earlier, id: params['deploymentId'] ?? '', rolledBackFrom: earlier.id },
      rollback: () => ({ ...agent, change: 'deployment' }),
      deleteAgent: () => ({ status: 'OK', activeSessionCount: 2, id: agent.id }),
      getLogs: ({ query }) => {
        const total = { value: 3, relation: 'eq' as const };
        if (query['order'] === 'desc')
          return { total, logs: [warning, line], nextCursor: null, followCursor: '1', ...maskingIncomplete };
        if (breaks-- > 0) throw simulatedDisconnectError;
        return {
          total,
          logs: [{ ...line, log: `after ${query['cursor']}` }],
          nextCursor: query['cursor'] === '1' ? '2' : null,
          followCursor: null,
          maskingIncomplete: true,
        };
      },
    },
  );
});
afterEach(() => service.close());

const run = (words: string, given: RunOptions = {}) =>
  runProgram(['cloud', 'agent', ...words.split(' ')], {
    variables: { BOTCLI_API_URL: service.origin, BOTCLI_TOKEN: privateKey },
    ...given,
  });
const asked = () => service.requests.map(({ operation }) => operation);

test('deployments shows one row per deployment, with its state and the reason of a failure', async () => {
  const { stdout, stderr } = await run('deployments parrot');
  expect(stdout.split('\n').map((row) => row.split('\t').slice(0, 2))).toEqual([
    ['Deployment id', 'State'],
    [failed.id, 'failed'],
    [deployment.id, 'serving'],
    [earlier.id, 'ready'],
    [''],
  ]);
  expect(stderr).toBe(`${failed.id} failed: It exited.\n`);
});

test('rollback shows the difference to the previous deployment, asks for confirmation, and waits for the rollout', async () => {
  deployments = [deployment, earlier];
  const done = await run('rollback parrot', { terminal: true, answers: [true] });
  expect(done.status).toBe(0);
  expect(done.stderr).toContain(`? Roll parrot back to ${earlier.id}?`);
  expect(done.stderr).toMatch(/code +000000000000 +.*->.* +.*111111111111/);
  expect(service.requests.find(({ operation }) => operation === 'rollback')?.body).toEqual({
    deploymentId: earlier.id,
  });
  const { stdout } = await run('rollback parrot --to 01930000-0000-7000-8000-0000000000e2 --yes --json');
  expect(JSON.parse(stdout)).toMatchObject({ change: 'deployment', deployment: { state: 'ready' } });
});

test('a declined rollback prints a sentence instead of an error, and exits with 1', async () => {
  const declined = await run('rollback parrot', { terminal: true, answers: [false] });
  expect(declined.status).toBe(1);
  expect(declined.stderr).toMatch(/\?\nNothing was changed\.\n$/);
});

test.each([[''], [' --yes']])(
  'rollback --to the active version%s reports that nothing changes, without a question',
  async (yes) => {
    deployments = [deployment, earlier];
    const unchanged = await run(`rollback parrot --to ${deployment.id}${yes}`);
    expect(unchanged).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('Nothing changed: this version is already active'),
    });
    expect(asked()).toEqual(['listDeployments']);
  },
);

test('rollback measures its duration with the monotonic clock', async () => {
  const timesMs = [1_000, 1_000];
  const { stdout } = await run('rollback parrot --yes', { monotonicMs: () => timesMs.shift() ?? 3_500 });
  expect(stdout).toContain('Active after 2.5 s');
});

test('rollback after a failed deploy selects the deployment that still serves sessions', async () => {
  await run('rollback parrot --yes');
  expect(service.requests.find(({ operation }) => operation === 'rollback')?.body).toEqual({
    deploymentId: deployment.id,
  });
});

test('rollback requires --yes without a terminal, and exits with 1 without a previous deployment', async () => {
  expect(await run('rollback parrot')).toMatchObject({ status: 2, stderr: expect.stringContaining('--yes') });
  deployments = [deployment];
  expect(await run('rollback parrot --yes')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('nothing to roll back to'),
  });
  expect(asked()).not.toContain('rollback');
});

test('delete shows the number of live sessions, asks for confirmation, and requires --yes without a terminal', async () => {
  expect(await run('delete parrot')).toMatchObject({ status: 2, stderr: expect.stringContaining('--yes') });
  const no = await run('delete parrot', { terminal: true, answers: [false] });
  expect(no).toMatchObject({ status: 1, stderr: expect.stringContaining('2 live sessions will run to the end.') });
  expect(asked()).not.toContain('deleteAgent');
  expect(await run('delete parrot --force')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('Sessions still running\t2\n'),
  });
});

test('logs prints matching lines oldest first, without escape sequences', async () => {
  const { status, stdout, stderr } = await run(
    `logs parrot -s ${sessionId} -q Hello -l INFO --since 10m -n 2 -d ${deployment.id}`,
  );
  expect(service.requests.at(-1)?.query).toEqual({
    limit: '2',
    order: 'desc',
    sessionId,
    deploymentId: deployment.id,
    query: 'Hello',
    level: 'INFO',
    startTime: String(new Date('2026-11-20T16:50:00.000Z').getTime() / 1_000),
  });
  expect(stdout).toBe(
    '2026-11-20T16:59:00.123Z\t00000a\t\thello there\n2026-11-20T16:59:01.000Z\t00000a\tWARNING\tslow\n',
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: 'Showing the last 2 of 3 lines. Show more with -n.\n' });
  expect(JSON.parse((await run('logs parrot --json')).stdout).logs).toEqual([line, warning]);
});

test('logs on a terminal colors warnings and shortens session IDs', async () => {
  const { stdout } = await run('logs parrot', { terminal: true });
  expect(stdout).toContain('\u001b[33mWARNING  slow\u001b[39m');
  expect(stdout).toContain(`\u001b[36m${sessionId.slice(-6)}\u001b[39m`);
  expect(stdout).not.toContain('\u001b[2J');
});

test('logs --follow continues after a short outage of the service, and exits when the log ends', async () => {
  breaks = 2;
  const { status, stdout } = await run('logs parrot --follow --json');
  expect(status).toBe(0);
  expect(
    stdout
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text).log),
  ).toEqual([line.log, 'slow', 'after 1', 'after 2']);
});

test('logs warns once when secret values could not be decrypted', async () => {
  const warning = /^warning: some secret values .*\n$/;
  expect((await run('logs parrot')).stderr).not.toMatch(/secret values/);
  expect((await run('logs parrot --follow')).stderr).toMatch(warning);
  maskingIncomplete = { maskingIncomplete: true };
  expect((await run('logs parrot --follow')).stderr).toMatch(warning);
  const { stdout, stderr } = await run('logs parrot -n 2 --json');
  expect(JSON.parse(stdout)).toMatchObject({ maskingIncomplete: true });
  expect(stderr).toMatch(warning);
});

test('logs --follow --json exits with 130 after Ctrl-C and prints the error "interrupted" as its last line', async () => {
  breaks = Number.POSITIVE_INFINITY;
  const interruption = new AbortController();
  const follower = run('logs parrot --follow --json', { signal: interruption.signal });
  // Press Ctrl-C only after the second request. The command has then printed the first lines, so its JSON output has begun.
  await expect.poll(() => asked().filter((name) => name === 'getLogs').length).toBeGreaterThan(1);
  interruption.abort();
  const { status, stdout } = await follower;
  expect(status).toBe(130);
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
  const { status, stdout } = await run('status parrot');
  expect(status).toBe(0);
  expect(stdout).toContain('Error PCC_BOT_EXITED\tIt exited.\n');
  expect(stdout).toContain('Last output\tTrace:\nLast output\tno\n');
  expect(stdout).toContain(`${failed.id}\tFailed\t0\tterminated\t${agent.createdAt}\tError, exit code 1\n`);
  expect(stdout).toContain(`Roll back\tbotcli cloud agent rollback parrot --to ${agent.activeDeploymentId}\n`);
});
