import { type InstanceExit, StartError } from '@bothost/runtime';
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { listDeploymentsToReconcile } from '../agents/deployment-state.ts';
import { SecretsUnavailableError } from '../secrets/pin.ts';
import { createBackoff } from './backoff.ts';
import { createDeploymentOutcomeWaiters } from './outcomes.ts';
import { createDeploymentValidator, describeStartFailure } from './validation.ts';

const exited = new StartError('It exited.', {
  reason: 'exited',
  code: 3,
  signal: null,
  outOfMemory: false,
  tail: 'oh',
});
const host = { region: 'us-west', accepts: 'build' } as const;
const noRoom = new StartError('No account is free.', null);
const attempt = { isLate: false, sessionId: null };

const rows = await useTestRows();

describe('deployment validation', () => {
  let agentId: string;
  let former: string;
  let id: string;

  beforeEach(async () => {
    agentId = await rows.agent(await rows.organization());
    former = await rows.deployment(agentId, { activated_at: testNow });
    id = await rows.deployment(agentId, { state: 'validating' });
  });

  function begin() {
    const now = () => testNow;
    const backoff = createBackoff(now);
    const outcomes = createDeploymentOutcomeWaiters<string | null>();
    const logger = pino({ level: 'silent' });
    const retryWrite = <T>(write: () => Promise<T>) => write();
    return {
      backoff,
      outcomes,
      ...createDeploymentValidator({ db: rows.db, now, logger, host, backoff, outcomes, retryWrite }),
    };
  }
  const open = async (wanted = id) => {
    const row = (await listDeploymentsToReconcile(rows.db, 'us-west', [wanted])).find((one) => one.id === wanted);
    if (row === undefined) throw new Error('no such deployment');
    return row;
  };
  const stored = (wanted = id) => rows.find('deployments', wanted);
  const serves = async () => (await rows.find('agents', agentId)).active_deployment_id;

  it('activates the deployment, which replaces the previous one, when an instance is ready', async () => {
    const { passed, outcomes } = begin();
    const outcome = outcomes.next(id);
    await passed(await open());
    expect(await serves()).toBe(id);
    expect(await stored()).toMatchObject({ state: 'ready', activated_at: testNow, error: null });
    expect(await stored(former)).toMatchObject({ state: 'ready', replaced_at: testNow });
    expect(await outcome).toBeNull();
  });

  it('activates the deployment only once', async () => {
    const { passed } = begin();
    const row = await open();
    await Promise.all([passed(row), passed(row), passed(row)]);
    expect(await serves()).toBe(id);
    expect(await stored()).toMatchObject({ replaced_at: null });
  });

  it('fails when the first bot exits during its start, and keeps the previous deployment active', async () => {
    const { startFailed, outcomes, backoff } = begin();
    const outcome = outcomes.next(id);
    await startFailed(await open(), exited, attempt);
    expect(await serves()).toBe(former);
    expect(await stored()).toMatchObject({
      state: 'failed',
      error_code: 'PCC_BOT_EXITED',
      error: 'It exited.',
      restarts: 1,
      last_exit: { code: 3, tail: 'oh' },
    });
    expect(await outcome).toBe('It exited. Last output of the bot: oh');
    expect(backoff.until(id)).not.toBeNull();
  });

  it('makes up to five attempts if the service, not the bot, causes each failure', async () => {
    const { startFailed } = begin();
    for (let count = 1; count < 5; count += 1) {
      await startFailed(await open(), noRoom, attempt);
      expect(await stored()).toMatchObject({ state: 'validating', restarts: count, error: 'No account is free.' });
    }
    await startFailed(await open(), noRoom, attempt);
    expect(await stored()).toMatchObject({ state: 'failed', error_code: 'PCC_UNKNOWN_ERROR' });
  });

  it('keeps the deployment active when another instance fails later', async () => {
    const { passed, startFailed, started } = begin();
    const row = await open();
    await passed(row);
    await startFailed(row, exited, attempt);
    expect(await serves()).toBe(id);
    expect(await stored()).toMatchObject({
      state: 'ready',
      error: 'It exited.',
      restarts: 1,
      last_exit: { tail: 'oh' },
    });
    await started(await open());
    expect(await stored()).toMatchObject({ error: null, error_at: null, last_exit: { code: 3, tail: '' } });
  });

  it('records why idle instances of a serving deployment exited', async () => {
    const { idleExit, backoff } = begin();
    await idleExit(former, { code: 0, signal: null, outOfMemory: false, tail: '' });
    expect(await stored(former)).toMatchObject({ state: 'ready', error_code: 'PCC_BOT_EXITED', restarts: 1 });
    expect(backoff.until(former)).not.toBeNull();
  });
});

const exit: InstanceExit = { reason: 'exited', code: 3, signal: null, outOfMemory: false, tail: 'oh' };

describe('describeStartFailure', () => {
  it.each([
    ['exited', new StartError('It exited.', exit), false, 'PCC_BOT_EXITED', true],
    ['exited during the start', new StartError('It exited.', exit), true, 'PCC_BOT_EXITED', true],
    [
      'used too much memory',
      new StartError('It exited.', { ...exit, outOfMemory: true }),
      false,
      'PCC_OUT_OF_MEMORY',
      true,
    ],
    [
      'could not be started by the machine',
      new StartError('No account is free.', null),
      false,
      'PCC_UNKNOWN_ERROR',
      false,
    ],
    [
      'lacks a secret set because it is damaged',
      new StartError('The bot could not be started.', null, {
        cause: new SecretsUnavailableError('It is damaged.', true),
      }),
      false,
      'PCC_SECRETS_UNAVAILABLE',
      true,
    ],
    [
      'lacks a root key',
      new StartError('The bot could not be started.', null, {
        cause: new SecretsUnavailableError('It is away.', false),
      }),
      false,
      'PCC_SECRETS_UNAVAILABLE',
      false,
    ],
    ['failed with an unknown error', new Error('ENOSPC'), false, 'PCC_UNKNOWN_ERROR', false],
    ['failed with a value that is not an error', 'odd', false, 'PCC_UNKNOWN_ERROR', false],
  ])(
    'returns the code, the message and whether a retry is useless for an instance that %s',
    (_, error, timedOut, code, lasting) => {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const message = cause instanceof Error ? cause.message : cause;
      expect(describeStartFailure(error, timedOut)).toMatchObject({ code, lasting, message });
    },
  );

  it('returns the time limit and the last output for an instance that timed out', () => {
    const error = new StartError('Nothing listens.', null, { tail: 'waiting' });
    expect(describeStartFailure(error, true)).toEqual({
      code: 'PCC_BOT_START_TIMEOUT',
      message: 'Nothing listens. It had 120 seconds.',
      exit: { code: null, signal: null, outOfMemory: false, tail: 'waiting' },
      lasting: true,
    });
  });
});
