import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { VaultStatus, VaultTask } from '@bothost/contract';
import { failure } from '@bothost/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hangUp, startTestService, type TestService } from '../../fake-service/fake-service.ts';
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

describe('the commands of the operator', () => {
  let directory: string;
  let service: TestService | null = null;
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
    answers: Parameters<typeof startTestService>[1],
    variables: Record<string, string> = { BOTHOST_DATA_DIR: directory },
  ) {
    service ??= await startTestService(keys, answers);
    const args = ['operator', 'vault', ...words.split(' '), '--api-url', service.origin];
    const outcome = await runProgram(args, { variables, directory });
    expect(outcome.stdout + outcome.stderr).not.toContain(operatorToken);
    return outcome;
  }

  it('show which root key wraps, which is not needed any more, and how far the work is', async () => {
    const outcome = await run('status', { getVault: () => status(task('rekey')) });
    expect(outcome.status).toBe(0);
    expect(outcome.stdout).toMatch(/0123456789abcdef\s+current\s+3/);
    expect(outcome.stdout).toMatch(/fedcba9876543210\s+former, not needed\s+0/);
    expect(outcome.stdout).toMatch(/rekey\s+done\s+3\/3\s+0/);
  });

  it.each([
    ['a file that is named', 'status --token-file operator-token', {}],
    ['the environment', 'status', { BOTCLI_OPERATOR_TOKEN: operatorToken }],
    ['the data directory', 'status', null],
  ])('take the token from %s', async (_, words, variables) => {
    const given = variables ?? { BOTHOST_DATA_DIR: directory };
    expect(await run(words, { getVault: () => status() }, given)).toMatchObject({ status: 0 });
  });

  it.each([
    ['is not there', 'status --token-file nothing', {}, 'does not exist'],
    ['is none', 'status', { BOTCLI_OPERATOR_TOKEN: 'short' }, 'not hold an operator token'],
    ['is another one', 'status', { BOTCLI_OPERATOR_TOKEN: 'cd'.repeat(32) }, 'does not accept the operator token'],
  ])('say what to do when it %s', async (_, words, variables, message) => {
    const outcome = await run(words, { getVault: () => status() }, variables);
    expect(outcome.status).toBe(1);
    expect(outcome.stderr).toContain(message);
    expect(outcome.stderr).toContain('--token-file');
    expect(outcome.stderr).not.toContain('cd'.repeat(32));
  });

  it('wait until the work is done, also where the service is away in between', async () => {
    let looks = 0;
    const outcome = await run('rotate root', {
      rotateVault: () => status(task('rekey', { state: 'running', done: 0, endedAt: null })),
      getVault: () => {
        looks += 1;
        if (looks === 1) throw hangUp;
        return status(looks < 3 ? task('rekey', { state: 'running', done: looks, endedAt: null }) : task('rekey'));
      },
    });
    expect(outcome.status).toBe(0);
    expect(looks).toBe(3);
    expect(service?.taken[0]?.body).toEqual({ layer: 'root' });
  });

  it('returns without waiting for the task with --no-wait', async () => {
    const begun = status(task('rotate', { state: 'running', done: 0, endedAt: null }));
    const outcome = await run('rotate organization --no-wait', { rotateVault: () => begun });
    expect(outcome.status).toBe(0);
    expect(outcome.stdout).toMatch(/rotate\s+running\s+0\/3/);
  });

  it('fail when something is damaged, and say where', async () => {
    const findings = [{ organization: 'home', set: 'keys', problem: 'the value of A is missing' }];
    const outcome = await run('verify --json', { verifyVault: () => status(task('verify', { findings })) });
    expect(outcome.status).toBe(1);
    expect(JSON.parse(outcome.stdout).error).toMatchObject({
      reason: 'vault-damaged',
      issues: [{ path: 'home/keys', message: 'the value of A is missing' }],
    });
  });

  it.each([
    ['rotate everything', 2],
    ['rotate root --only home', 2],
  ])('refuse %s', async (words, exit) => {
    expect(await run(words, {})).toMatchObject({ status: exit });
  });

  it('tell a refusal of the service', async () => {
    const refused = () => {
      throw failure('vault-busy');
    };
    const outcome = await run('rotate organization --only home', { rotateVault: refused });
    expect(outcome.status).toBe(1);
    expect(outcome.stderr).toContain('already running');
    expect(service?.taken[0]?.body).toEqual({ layer: 'organization', organization: 'home' });
  });

  it('do not blame the profile for an organization that the line names', async () => {
    const missing = () => {
      throw failure('organization-not-found');
    };
    const variables = { BOTHOST_DATA_DIR: directory, BOTCLI_ORG: 'home' };
    const outcome = await run('rotate organization --only nosuch', { rotateVault: missing }, variables);
    expect(outcome).toMatchObject({ status: 1, stderr: 'error: Organization not found.\n' });
  });
});
