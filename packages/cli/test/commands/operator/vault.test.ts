import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { VaultStatus, VaultTask } from '@bothost/contract';
import { createApiError } from '@bothost/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type FakeService, simulatedDisconnectError, startFakeService } from '../../fake-service/fake-service.ts';
import { runProgram } from '../../run-program.ts';

const operatorToken = 'ab'.repeat(32);
const keys = { privateKey: `sk_${'p'.repeat(40)}`, publicKey: `pk_${'q'.repeat(40)}`, operatorToken };
const at = '2026-11-20T12:00:00.000Z';

function task(kind: VaultTask['task'], change: Partial<VaultTask> = {}): VaultTask {
  return {
    task: kind,
    state: 'done',
    done: 3,
    total: 3,
    startedAt: at,
    updatedAt: at,
    endedAt: at,
    findings: [],
    ...change,
  };
}
function status(...tasks: VaultTask[]): VaultStatus {
  return {
    rootKeys: [
      { id: '0123456789abcdef', current: true, atHand: true, wraps: 3 },
      { id: 'fedcba9876543210', current: false, atHand: true, wraps: 0 },
    ],
    organizations: 1,
    sets: 2,
    values: 5,
    behind: { keys: 0, sets: 1 },
    tasks,
  };
}

describe('operator vault', () => {
  let directory: string;
  let service: FakeService | null = null;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'operator-'));
    await writeFile(join(directory, 'operator-token'), `${operatorToken}\n`, { mode: 0o600 });
  });
  afterEach(async () => {
    await service?.close();
    service = null;
  });
  afterAll(() => rm(directory, { recursive: true }));

  async function run(
    words: string,
    answers: Parameters<typeof startFakeService>[1],
    variables: Record<string, string> = { BOTHOST_DATA_DIR: directory },
  ) {
    service ??= await startFakeService(keys, answers);
    const args = ['operator', 'vault', ...words.split(' '), '--api-url', service.origin];
    const outcome = await runProgram(args, { variables, directory });
    expect(outcome.stdout + outcome.stderr).not.toContain(operatorToken);
    return outcome;
  }

  it('status shows the current and former root keys and the progress of tasks', async () => {
    const outcome = await run('status', { getVault: () => status(task('rekey')) });
    expect(outcome.status).toBe(0);
    expect(outcome.stdout).toMatch(/0123456789abcdef\s+current\s+3/);
    expect(outcome.stdout).toMatch(/fedcba9876543210\s+former, not needed\s+0/);
    expect(outcome.stdout).toMatch(/rekey\s+done\s+3\/3\s+0/);
  });

  it.each([
    ['the file of --token-file', 'status --token-file operator-token', {}],
    ['the environment', 'status', { BOTCLI_OPERATOR_TOKEN: operatorToken }],
    ['the data directory', 'status', null],
  ])('status reads the operator token from %s', async (_, words, variables) => {
    const environment = variables ?? { BOTHOST_DATA_DIR: directory };
    expect(await run(words, { getVault: () => status() }, environment)).toMatchObject({ status: 0 });
  });

  it.each([
    ['does not exist', 'status --token-file nothing', {}, 'does not exist'],
    ['has an invalid format', 'status', { BOTCLI_OPERATOR_TOKEN: 'short' }, 'not contain an operator token'],
    [
      'belongs to another service',
      'status',
      { BOTCLI_OPERATOR_TOKEN: 'cd'.repeat(32) },
      'does not accept the operator token',
    ],
  ])('status suggests --token-file if the operator token %s', async (_, words, variables, message) => {
    const outcome = await run(words, { getVault: () => status() }, variables);
    expect(outcome.status).toBe(1);
    expect(outcome.stderr).toContain(message);
    expect(outcome.stderr).toContain('--token-file');
    expect(outcome.stderr).not.toContain('cd'.repeat(32));
  });

  it('rotate waits until the rotation task has ended, even if the connection breaks meanwhile', async () => {
    let polls = 0;
    const outcome = await run('rotate root', {
      rotateVault: () => status(task('rekey', { state: 'running', done: 0, endedAt: null })),
      getVault: () => {
        polls += 1;
        if (polls === 1) throw simulatedDisconnectError;
        return status(polls < 3 ? task('rekey', { state: 'running', done: polls, endedAt: null }) : task('rekey'));
      },
    });
    expect(outcome.status).toBe(0);
    expect(polls).toBe(3);
    expect(service?.requests[0]?.body).toEqual({ layer: 'root' });
  });

  it('rotate --no-wait returns while the rotation task runs', async () => {
    const begun = status(task('rotate', { state: 'running', done: 0, endedAt: null }));
    const outcome = await run('rotate organization --no-wait', { rotateVault: () => begun });
    expect(outcome.status).toBe(0);
    expect(outcome.stdout).toMatch(/rotate\s+running\s+0\/3/);
  });

  it.each(['verify --only home --json', 'rotate organization --dry-run --only home --json'])(
    '%s exits with status 1 and names the damaged secret set',
    async (words) => {
      const findings = [{ organization: 'home', set: 'keys', problem: 'the value of A is missing' }];
      const outcome = await run(words, { verifyVault: () => status(task('verify', { findings })) });
      expect(outcome.status).toBe(1);
      expect(JSON.parse(outcome.stdout).error).toMatchObject({
        reason: 'vault-damaged',
        issues: [{ path: 'home/keys', message: 'the value of A is missing' }],
      });
      expect(service?.requests[0]?.body).toEqual({ organization: 'home' });
    },
  );

  it.each([
    ['rotate everything', 2],
    ['rotate root --only home', 2],
    ['rotate root --dry-run', 2],
    ['verify organization', 2],
  ])('refuses the command line %s', async (words, exit) => {
    expect(await run(words, {})).toMatchObject({ status: exit });
  });

  it('rotate reports that another task is running', async () => {
    const refused = () => {
      throw createApiError('vault-busy');
    };
    const outcome = await run('rotate organization --only home', { rotateVault: refused });
    expect(outcome.status).toBe(1);
    expect(outcome.stderr).toContain('already running');
    expect(service?.requests[0]?.body).toEqual({ layer: 'organization', organization: 'home' });
  });

  it('rotate --only with an unknown organization names it, without a hint about the configured organization', async () => {
    const missing = () => {
      throw createApiError('organization-not-found');
    };
    const variables = { BOTHOST_DATA_DIR: directory, BOTCLI_ORG: 'home' };
    const outcome = await run('rotate organization --only nosuch', { rotateVault: missing }, variables);
    expect(outcome).toMatchObject({ status: 1, stderr: 'error: Organization "nosuch" does not exist.\n' });
  });
});
