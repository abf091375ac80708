import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { secondsAgo, testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { createSessionEndRecorder } from './record-ends.ts';

const rows = await useTestRows();
const of = await rows.deployedAgent();

/** Creates an end recorder. `calls` are the calls that the recorder made. `forget` removes the files of an instance. */
function open(forget: () => Promise<void> = async () => undefined) {
  const calls: string[] = [];
  const recorder = createSessionEndRecorder({
    db: rows.db,
    now: () => testNow,
    logger: pino({ level: 'silent' }),
    runtime: {
      forget: () => {
        calls.push('forget');
        return forget();
      },
    },
    ownership: { release: () => calls.push('release') },
    sessionAddresses: { ended: () => calls.push('remove address') },
    sampler: { finish: async () => [], forget: () => undefined },
    telemetry: { sessionEnded: (end) => calls.push(`count ${end.completion_status}`) },
    retryWrite: (write) => write(),
    requestReconcile: () => calls.push('reconcile'),
  });
  return { calls, ...recorder };
}
const stored = (id: string) => rows.find('sessions', id);
const instanceState = async (id: string) =>
  (await rows.db.selectFrom('instances').select('state').where('id', '=', id).executeTakeFirst())?.state;

describe('endSession', () => {
  it('records the first of two ends, and requests one reconcile pass', async () => {
    const id = await rows.session(of, { created_at: secondsAgo(9) });
    const { endSession, calls } = open();
    await Promise.all([
      endSession(id, 'HTTP_COMPLETED', secondsAgo(5)),
      endSession(id, 'HTTP_COMPLETED', secondsAgo(5)),
    ]);
    await endSession(id, 'HTTP_ERROR');
    expect(await stored(id)).toMatchObject({ completion_status: 'HTTP_COMPLETED', ended_at: secondsAgo(5) });
    expect(calls.filter((call) => /count|reconcile/.test(call))).toEqual(['count HTTP_COMPLETED', 'reconcile']);
  });

  it('prefers the stored ending_status, if any, to the given status', async () => {
    const id = await rows.session(of, { state: 'ending', ending_status: 'SESSION_TIME_LIMIT' });
    const { endSession, calls } = open();
    await endSession(id, 'HTTP_ERROR');
    expect(await stored(id)).toMatchObject({ completion_status: 'SESSION_TIME_LIMIT', ended_at: testNow });
    expect(calls).toContain('count SESSION_TIME_LIMIT');
  });

  it('does not end a session as timed out if its client connects before the timeout is recorded', async () => {
    const id = await rows.session(of, { state: 'starting' });
    const { endSession, calls } = open();
    await endSession(id, 'BOT_CONNECTION_TIMEOUT', testNow, 'waiting');
    expect(await stored(id)).toMatchObject({ state: 'starting', completion_status: null });
    expect(calls).toEqual([]);
  });
});

describe('instanceRemoved', () => {
  it('records a failed start in the session, and removes the files of the instance', async () => {
    const sessionId = await rows.session(of);
    const instanceId = await rows.instance(of, { state: 'starting', session_id: sessionId });
    const { instanceRemoved, calls } = open();
    await instanceRemoved(instanceId, 'BOT_START_TIMEOUT', 'The bot was stopped.');
    expect(await stored(sessionId)).toMatchObject({
      completion_status: 'BOT_START_TIMEOUT',
      events: [{ code: 'INSTANCE_START_FAILED', detail: { cause: 'The bot was stopped.' } }],
    });
    expect(calls.slice(-2)).toEqual(['forget', 'reconcile']);
    expect(await instanceState(instanceId)).toBe('ended');
  });

  it('records the end of an instance that has no session', async () => {
    const instanceId = await rows.instance(of);
    const { instanceRemoved, calls } = open();
    await instanceRemoved(instanceId, 'HTTP_ERROR', null);
    expect(calls).toEqual(['forget', 'reconcile']);
    expect(await instanceState(instanceId)).toBe('ended');
  });

  it('does not mark an instance as ended if its files could not be removed', async () => {
    const instanceId = await rows.instance(of);
    const { instanceRemoved } = open(() => Promise.reject(new Error('The disk is broken.')));
    await expect(instanceRemoved(instanceId, 'HTTP_ERROR', null)).rejects.toThrow('The disk is broken.');
    expect(await instanceState(instanceId)).toBe('ready');
  });
});
