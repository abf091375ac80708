import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { StartError } from '@bothost/runtime';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { testNow } from '../../test/support/test-rows.ts';
import { createPutSecretsRequest, createTestVault } from '../../test/support/test-vault.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { listDeploymentsToReconcile } from '../agents/deployment-state.ts';
import { findInstance, markReady } from '../instances/lifecycle.ts';
import { createInstanceRunner, type InstanceRunnerContext } from './instance-runner.ts';
import { createSessionOwnershipRegistry } from './session-ownership.ts';

const now = () => testNow;
/** No bot listens here, so the status request of the runner fails at once. */
const address = { socket: '/missing/bot.sock' };
const stopped = new StartError('The bot was stopped before it was ready.', null, { kind: 'bot' });

const rows = await useTestRows();
const hostId = await rows.host();
const vault = await createTestVault(rows);

/**
 * Creates a runner and a starting instance. `start` replaces the start function of the runtime. `calls` are the calls that the
 * runner made.
 */
async function open(start: InstanceRunnerContext['runtime']['start'], fields: Partial<InstanceRunnerContext> = {}) {
  const of = await rows.deployedAgent({ hostId });
  const sessionId = await rows.session(of);
  const instanceId = await rows.instance(of, {
    state: 'starting',
    host: null,
    port: null,
    ready_at: null,
    session_id: sessionId,
  });
  const row = await findInstance(rows.db, instanceId);
  const [deployment] = await listDeploymentsToReconcile(rows.db, 'us-west', [of.deploymentId]);
  if (row === undefined || deployment === undefined) throw new Error('The rows are missing.');
  const closing = new AbortController();
  const deadline = new AbortController();
  const launchDeadline = new AbortController();
  const calls: unknown[][] = [];
  const runner = createInstanceRunner({
    db: rows.db,
    now,
    logger: pino({ level: 'silent' }),
    host: { region: 'us-west', accepts: 'build' },
    runtime: {
      start: (...parameters) => {
        calls.push(['start']);
        return start(...parameters);
      },
      stop: async (_, graceMs) => void calls.push(['stop', graceMs]),
    },
    key: randomBytes(32),
    ownership: createSessionOwnershipRegistry(),
    startInTurn: (_organizationId, _signal, begin) => begin(),
    startDeadline: () => deadline.signal,
    launchDeadline: () => launchDeadline.signal,
    closing: closing.signal,
    validation: {
      started: async () => undefined,
      startFailed: async (_, __, { isLate }) => void calls.push(['start failed', isLate ? 'late' : 'in time']),
    },
    keyring: vault.context.keyring,
    maxConversationLevel: 'transcript',
    retryWrite: (write) => write(),
    internalUrl: () => 'http://127.0.0.1:7420',
    replaceInstance: async (session, cause) => {
      calls.push(['replace', session.instanceId === instanceId, cause]);
      return null;
    },
    waitBeforeReplacement: async (earlier) => void calls.push(['wait', earlier]),
    onReady: (ready) => void calls.push(['ready', ready.session_id === sessionId]),
    onRemoved: async (_, status, cause) => void calls.push(['removed', status, cause]),
    ...fields,
  });
  const state = async () => (await findInstance(rows.db, instanceId))?.state;
  return { runner, row, deployment, state, calls, closing, deadline, launchDeadline };
}

/**
 * Creates a start function whose instance never becomes ready and that rejects when its signal aborts. `begun` resolves when
 * `start` is called.
 */
function createEndlessStart(isLaunched = true) {
  const events = new EventEmitter();
  const start: InstanceRunnerContext['runtime']['start'] = async (_, signal, launched) => {
    if (isLaunched) launched?.();
    events.emit('begun');
    await once(signal, 'abort');
    throw stopped;
  };
  return { start, begun: once(events, 'begun') };
}

describe('the instance runner', () => {
  it('does not log the last output of a bot that did not become ready', async () => {
    const logged: string[] = [];
    const exit = {
      reason: 'exited',
      code: 3,
      signal: null,
      outOfMemory: false,
      tail: 'the caller said hello',
    } as const;
    const { runner, row, deployment } = await open(() => Promise.reject(new StartError('It exited.', exit)), {
      logger: pino({}, { write: (line: string) => logged.push(line) }),
    });
    await runner.start(row, deployment);
    expect(logged.join()).toContain('It exited.');
    expect(logged.join()).not.toContain('hello');
  });

  it.each([
    ['off', 'transcript', 'INFO'],
    ['timings', 'transcript', 'INFO'],
    ['transcript', 'transcript', 'DEBUG'],
    ['recording', 'recording', 'DEBUG'],
    ['transcript', 'timings', 'INFO'],
  ] as const)(
    'starts a bot at the level %s, of which the operator allows %s, with the log level %s',
    async (level, maxConversationLevel, expected) => {
      const environments: Readonly<Record<string, string>>[] = [];
      const start: InstanceRunnerContext['runtime']['start'] = async (spec) => {
        environments.push(await spec.environment());
        return { address };
      };
      const { runner, row, deployment } = await open(start, { maxConversationLevel });
      await runner.start(row, { ...deployment, conversation_level: level });
      expect(environments).toMatchObject([{ PIPECAT_LOG_LEVEL: expected, BOTHOST_LIMIT_SESSION_LOG: '1' }]);
    },
  );

  it.each([
    [
      'image',
      'http://172.17.0.1:7420',
      /^http:\/\/172\.17\.0\.1:7420\/v1\/published-events\?instance=[^&]+&secret=[0-9a-f]{64}$/,
    ],
    ['image', null, undefined],
    ['build', 'http://172.17.0.1:7420', undefined],
  ] as const)(
    'gives a bot from an %s, with the internal URL %s, the event endpoint %s',
    async (kind, url, endpoint) => {
      const environments: Readonly<Record<string, string>>[] = [];
      const start: InstanceRunnerContext['runtime']['start'] = async (spec) => {
        environments.push(spec.instanceEnvironment?.() ?? {});
        return { address };
      };
      const accepts = { region: 'us-west', accepts: kind };
      const { runner, row, deployment } = await open(start, { host: accepts, internalUrl: () => url });
      const source = kind === 'image' ? ({ kind, reference: 'ghcr.io/team/bot:1' } as const) : deployment.source;
      await runner.start(row, { ...deployment, source });
      expect(environments[0]?.['PIPECAT_EVENT_PUBLISHER_ENDPOINT']).toEqual(
        endpoint === undefined ? undefined : expect.stringMatching(endpoint),
      );
      expect(environments[0]?.['PCC_EXCLUDE_CONTENT']).toBe(endpoint === undefined ? undefined : 'true');
    },
  );

  it('gives all instances of a deployment equal variables, and each instance tokens of its own', async () => {
    const specs: Parameters<InstanceRunnerContext['runtime']['start']>[0][] = [];
    const { runner, row, deployment } = await open(async (spec) => {
      specs.push(spec);
      return { address };
    });
    const ids = { agentId: row.agent_id, deploymentId: row.deployment_id, hostId };
    const id = await rows.instance(ids, { state: 'starting', host: null, port: null, ready_at: null });
    for (const each of [row, { ...row, id, session_id: null }]) await runner.start(each, deployment);
    const [shared, otherShared] = await Promise.all(specs.map((spec) => spec.environment()));
    expect(otherShared).toEqual(shared);
    const [own = {}, other = {}] = specs.map((spec) => spec.instanceEnvironment?.());
    expect(Object.keys(own)).toEqual(['BOT_CONTROL_TOKEN', 'ICE_CONFIG_URL']);
    for (const [name, value] of Object.entries(own)) expect(other[name]).not.toBe(value);
  });

  it('starts a bot with the log level of its secret set, and does not limit the log of its session', async () => {
    const environments: Readonly<Record<string, string>>[] = [];
    const { runner, row, deployment } = await open(async (spec) => {
      environments.push(await spec.environment());
      return { address };
    });
    await vault.put(deployment.organization_id, 'keys', createPutSecretsRequest({ PIPECAT_LOG_LEVEL: 'TRACE' }));
    const { id: setId } = await rows.db
      .selectFrom('secret_sets')
      .select('id')
      .where('organization_id', '=', deployment.organization_id)
      .executeTakeFirstOrThrow();
    await runner.start(row, { ...deployment, secret_pins: [{ secretSet: 'keys', setId, revision: 1 }] });
    expect(environments).toMatchObject([{ PIPECAT_LOG_LEVEL: 'TRACE' }]);
    expect(environments[0]).not.toHaveProperty('BOTHOST_LIMIT_SESSION_LOG');
  });

  it('marks an instance as ready, and calls onReady with the id of its session', async () => {
    const { runner, row, deployment, state, calls } = await open(async () => ({ address }));
    await runner.start(row, deployment);
    expect(calls).toEqual([['start'], ['ready', true]]);
    expect(await state()).toBe('ready');
    expect(runner.isBusy(row.id)).toBe(false);
  });

  it('`start` does nothing if the instance became ready after its database row was read', async () => {
    const { runner, row, deployment, calls } = await open(async () => ({ address }));
    await markReady({ db: rows.db, now }, row.id, address, true);
    await runner.start(row, deployment);
    expect(calls).toEqual([]);
    expect(runner.isBusy(row.id)).toBe(false);
  });

  it('cancels the start when the instance is stopped, and does not report a failed start', async () => {
    const { start, begun } = createEndlessStart();
    const { runner, row, deployment, state, calls } = await open(start);
    const starting = runner.start(row, deployment);
    await begun;
    expect(runner.isBusy(row.id)).toBe(true);
    await Promise.all([runner.stop(row, 'none'), runner.stop(row, 'none'), starting]);
    const removed = ['removed', 'HTTP_ERROR', null];
    expect(calls).toHaveLength(5);
    expect(calls).toEqual(expect.arrayContaining([['start'], ['stop', 0], ['stop', 5_000], removed, removed]));
    expect(await state()).toBe('stopping');
    expect(runner.isBusy(row.id)).toBe(false);
  });

  it('removes an instance that is not ready at its deadline with the status BOT_START_TIMEOUT', async () => {
    const { start, begun } = createEndlessStart();
    const { runner, row, deployment, calls, deadline } = await open(start);
    const starting = runner.start(row, deployment);
    await begun;
    deadline.abort();
    await starting;
    expect(calls).toEqual([
      ['start'],
      ['start failed', 'late'],
      ['stop', 0],
      ['removed', 'BOT_START_TIMEOUT', stopped.message],
    ]);
  });

  it.each(['capacity', 'platform'] as const)(
    'gives the session another instance after a failure of kind %s',
    async (kind) => {
      const { runner, row, deployment, calls } = await open(() =>
        Promise.reject(new StartError('No room.', null, { kind })),
      );
      await runner.start(row, deployment);
      expect(calls).toEqual([
        ['start'],
        ['start failed', 'in time'],
        ['wait', 0],
        ['replace', true, 'No room.'],
        ['stop', 0],
        ['removed', 'HTTP_ERROR', 'No room.'],
      ]);
    },
  );

  it.each(['bot', 'image'] as const)('gives the session no other instance after a failure of kind %s', async (kind) => {
    const { runner, row, deployment, calls } = await open(() =>
      Promise.reject(new StartError('Broken.', null, { kind })),
    );
    await runner.start(row, deployment);
    expect(calls).toEqual([['start'], ['start failed', 'in time'], ['stop', 0], ['removed', 'HTTP_ERROR', 'Broken.']]);
  });

  it('does not report a late bot if the platform did not launch it in time', async () => {
    const { start, begun } = createEndlessStart(false);
    const { runner, row, deployment, calls, deadline, launchDeadline } = await open(start);
    const starting = runner.start(row, deployment);
    await begun;
    deadline.abort();
    launchDeadline.abort();
    await starting;
    expect(calls).toEqual([
      ['start'],
      ['start failed', 'in time'],
      ['stop', 0],
      ['removed', 'BOT_START_TIMEOUT', `The platform did not run the bot in time. ${stopped.message}`],
    ]);
  });

  it('uses an instance that became ready just when its deadline passed', async () => {
    const { runner, row, deployment, calls, deadline } = await open(async () => {
      deadline.abort();
      return { address };
    });
    await runner.start(row, deployment);
    expect(calls).toEqual([['start'], ['ready', true]]);
  });

  it('ends the session with HTTP_ERROR if the database write of the ready state fails after the start deadline', async () => {
    const { runner, row, deployment, calls, deadline } = await open(async () => ({ address }), {
      now: () => {
        deadline.abort();
        throw new Error('The database rejects the write.');
      },
    });
    await runner.start(row, deployment);
    expect(calls).toEqual([
      ['start'],
      ['start failed', 'in time'],
      ['stop', 0],
      ['removed', 'HTTP_ERROR', 'The database rejects the write.'],
    ]);
  });

  it('does not stop a starting instance if the runtime rejects the start because the server closes', async () => {
    const { runner, row, deployment, state, calls, closing } = await open(async () => {
      closing.abort();
      throw stopped;
    });
    await runner.start(row, deployment);
    expect(calls).toEqual([['start']]);
    expect(await state()).toBe('starting');
  });

  it('leaves an instance running if it becomes ready after the database was closed', async () => {
    const { runner, row, deployment, state, calls, closing } = await open(async () => ({ address }), {
      now: () => {
        closing.abort();
        throw new Error('The database is closed.');
      },
    });
    await runner.start(row, deployment);
    expect(calls).toEqual([['start']]);
    expect(await state()).toBe('starting');
  });

  it('does not start an instance if the server closes while the start is queued', async () => {
    const { runner, row, deployment, state, calls, closing } = await open(async () => ({ address }), {
      startInTurn: (_organizationId, _signal, begin) => {
        closing.abort();
        return begin();
      },
    });
    await runner.start(row, deployment);
    expect(calls).toEqual([]);
    expect(await state()).toBe('starting');
  });
});
