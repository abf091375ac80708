import type { DeploySource } from '@bothost/contract';
import type { InstanceEvent, InstanceExit } from '@bothost/runtime';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { secondsAgo, type TestDatabaseRows, testNow } from '../../test/support/test-rows.ts';
import { createTestVault } from '../../test/support/test-vault.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { createEventTextReader } from '../conversations/event-text.ts';
import type { InstanceClaim } from '../instances/claim.ts';
import { createSessionAddressRegistry } from '../sessions/session-address-registry.ts';
import { newId } from '../store/uuid.ts';
import { watchInstances } from './instance-events.ts';
import { createSessionEndRecorder } from './record-ends.ts';
import { createSessionOwnershipRegistry } from './session-ownership.ts';

const exitedAt = secondsAgo(3);
const unobservedEndAt = secondsAgo(7);
const ok: InstanceExit = { reason: 'exited', code: 0, signal: null, outOfMemory: false, tail: '' };
const failed: InstanceExit = { ...ok, code: 3, tail: 'Traceback' };
const unknown: InstanceExit = { ...ok, reason: 'unknown', code: null };
const killed = (signal: string): InstanceExit => ({ ...ok, code: null, signal });

const thisServer = newId();
let accepts: DeploySource = 'build';

const rows = await useTestRows();
const keyring = (await createTestVault(rows)).context.keyring;
const of = await rows.deployedAgent();

const sessionAddresses = createSessionAddressRegistry({ db: rows.db, host: { id: of.hostId, region: 'us-west' } });

type SessionFields = Parameters<TestDatabaseRows['session']>[1];

/** An instance with a session that was created ten seconds ago. */
async function open(fields: SessionFields, instanceFields: Parameters<TestDatabaseRows['instance']>[1] = {}) {
  const sessionId = await rows.session(of, { created_at: secondsAgo(10), ...fields });
  const instanceId = await rows.instance(of, { session_id: sessionId, ready_at: secondsAgo(9), ...instanceFields });
  return { sessionId, instanceId };
}
const exitOf = (instanceId: string, exit: InstanceExit, at = exitedAt): InstanceEvent => ({
  kind: 'exited',
  instanceId,
  at,
  exit,
});

/**
 * Passes the events to `watchInstances`, which processes them concurrently. After all are processed, resolves with a list of
 * the calls that they caused: `forget` if the runtime forgot an instance, `count STATUS` if an ended session was
 * counted, and `idle exit CODE` if an instance without a session exited.
 */
function deliver(...events: readonly InstanceEvent[]): Promise<string[]> {
  return deliverWith(null, ...events);
}

/** Like `deliver`. `replacement` is the instance that sessions get instead of an exited one. */
async function deliverWith(replacement: InstanceClaim | null, ...events: readonly InstanceEvent[]): Promise<string[]> {
  const calls: string[] = [];
  const runtime = {
    forget: async () => void calls.push('forget'),
    watch: async function* () {
      yield* events;
    },
  };
  const shared = {
    db: rows.db,
    now: () => testNow,
    logger: pino({ level: 'silent' }),
    runtime,
    ownership: createSessionOwnershipRegistry(),
    retryWrite: <T>(write: () => Promise<T>) => write(),
  };
  const { endSession } = createSessionEndRecorder({
    ...shared,
    sessionAddresses: { ended: () => undefined },
    sampler: { finish: async () => [], forget: () => undefined },
    telemetry: { sessionEnded: (end) => calls.push(`count ${end.completion_status}`) },
    requestReconcile: () => undefined,
  });
  await new Promise<void>((resolve) => {
    let left = events.length;
    watchInstances({
      ...shared,
      host: { id: of.hostId, accepts },
      keyring,
      serverId: thisServer,
      sessionAddresses,
      signal: new AbortController().signal,
      replaceInstance: async () => {
        calls.push('replace');
        return replacement;
      },
      endSession,
      requestReconcile: () => {
        left -= 1;
        if (left === 0) resolve();
      },
      unobservedEndAt: () => unobservedEndAt,
      onIdleExit: async (_, exit) => void calls.push(`idle exit ${exit.code}`),
    });
  });
  return calls;
}
const stored = (id: string) => rows.find('sessions', id);
const instanceState = async (id: string) =>
  (await rows.db.selectFrom('instances').select('state').where('id', '=', id).executeTakeFirst())?.state;

describe('the exit of an instance', () => {
  const live: SessionFields = { state: 'live', bot_started_at: secondsAgo(8) };
  const relayed: SessionFields = { ...live, transport: 'websocket', relay_id: thisServer };
  const dispatched: SessionFields = { state: 'starting', dispatched_at: secondsAgo(8) };

  it.each<[session: string, how: string, status: string, fields: SessionFields, exit: InstanceExit, endedAt: Date]>([
    ['live', 'code 0', 'HTTP_COMPLETED', live, ok, exitedAt],
    ['live', 'code 3', 'HTTP_ERROR', live, failed, exitedAt],
    ['live', 'an unknown status', 'HTTP_ERROR', live, unknown, unobservedEndAt],
    ['WebSocket', 'code 3', 'HTTP_ERROR', relayed, failed, exitedAt],
    ['WebSocket', 'code 0', 'HTTP_ERROR', relayed, ok, exitedAt],
    ['lost WebSocket', 'code 0', 'SERVICE_INTERRUPTED', { ...relayed, relay_id: newId() }, ok, exitedAt],
    ['dispatched', 'code 0', 'HTTP_COMPLETED', dispatched, ok, exitedAt],
    ['dispatched', 'code 3', 'HTTP_ERROR', dispatched, failed, exitedAt],
    ['live', 'SIGTERM', 'HTTP_ERROR', live, killed('SIGTERM'), exitedAt],
    ['stopped', 'code 3', 'SESSION_STOPPED', { state: 'ending', ending_status: 'SESSION_STOPPED' }, failed, exitedAt],
  ])('with a %s session: after %s, the status of the session is %s', async (_, _how, status, fields, exit, endedAt) => {
    const { sessionId, instanceId } = await open(fields);
    expect(await deliver(exitOf(instanceId, exit))).toEqual([`count ${status}`, 'forget']);
    expect(await stored(sessionId)).toMatchObject({ completion_status: status, ended_at: endedAt });
    expect(await instanceState(instanceId)).toBe('ended');
  });

  it.each([
    [false, 'HTTP_COMPLETED'],
    [true, 'HTTP_ERROR'],
  ])(
    'by SIGTERM in an image region, if the bot has a status route (%s), ends the session with %s',
    async (reports_session, status) => {
      const { sessionId, instanceId } = await open(live, { reports_session });
      accepts = 'image';
      await deliver(exitOf(instanceId, killed('SIGTERM')));
      accepts = 'build';
      expect(await stored(sessionId)).toMatchObject({ completion_status: status });
    },
  );

  it('before the dispatch of its session gives the session another instance, or ends it if there is none', async () => {
    const { sessionId, instanceId } = await open({ state: 'starting' });
    const replacement = { instanceId: newId(), address: null, readyAt: null, reportsSession: false, notices: [] };
    expect(await deliverWith(replacement, exitOf(instanceId, failed))).toEqual(['replace', 'forget']);
    expect(await stored(sessionId)).toMatchObject({ state: 'starting', completion_status: null });
    const { instanceId: last } = await open({ state: 'starting' });
    expect(await deliver(exitOf(last, failed))).toEqual(['replace', 'count HTTP_ERROR', 'forget']);
  });

  it('gives another instance to a WebSocket session only while its relay waits for an address', async () => {
    const { sessionId, instanceId } = await open({ state: 'starting', transport: 'websocket', relay_id: thisServer });
    const entry = { sessionId, organizationId: of.organizationId, agentName: 'parrot', instanceId };
    const replacement = { instanceId: newId(), address: null, readyAt: null, reportsSession: false, notices: [] };
    sessionAddresses.expect({ ...entry, address: null });
    expect(await deliverWith(replacement, exitOf(instanceId, failed))).toEqual(['replace', 'forget']);
    const other = await open({ state: 'starting', transport: 'websocket', relay_id: thisServer });
    sessionAddresses.expect({ ...entry, ...other, address: { host: '127.0.0.1', port: 1 } });
    expect(await deliverWith(replacement, exitOf(other.instanceId, failed))).toEqual(['count HTTP_ERROR', 'forget']);
  });

  it('with code 0 before the session became live: the session starts at the time of its dispatch to the bot', async () => {
    const { sessionId, instanceId } = await open(dispatched);
    await deliver(exitOf(instanceId, ok));
    expect(await stored(sessionId)).toMatchObject({ bot_started_at: secondsAgo(8), cold_start: true });
  });

  it('is recorded once even if the runtime reports the exit twice at the same time and again after a restart', async () => {
    const { sessionId, instanceId } = await open({ ...live, conversation_level: 'transcript' });
    const exit = exitOf(instanceId, failed);
    const calls = [...(await deliver(exit, exit)), ...(await deliver(exit))];
    expect(calls.filter((call) => call.startsWith('count'))).toEqual(['count HTTP_ERROR']);
    const detail = { reason: 'exited', code: 3, signal: null, outOfMemory: false };
    const { completion_status: status, events } = await stored(sessionId);
    expect(status).toBe('HTTP_ERROR');
    expect(events).toEqual([{ code: 'INSTANCE_EXITED', at: exitedAt.toISOString(), detail, text: expect.any(String) }]);
    const read = createEventTextReader({ db: rows.db, keyring, logger: pino({ level: 'silent' }) });
    const session = { id: sessionId, organizationId: of.organizationId };
    expect(await Promise.all(events.map((event) => read(session, event)))).toEqual([{ tail: 'Traceback' }]);
  });

  it('has no last output if the conversation level of the session keeps no text', async () => {
    const { sessionId, instanceId } = await open({ ...live, conversation_level: 'timings' });
    await deliver(exitOf(instanceId, failed));
    const detail = { reason: 'exited', code: 3, signal: null, outOfMemory: false };
    expect((await stored(sessionId))?.events).toEqual([
      { code: 'INSTANCE_EXITED', at: exitedAt.toISOString(), detail },
    ]);
  });

  it('has the last output at each level if the instance was never ready for a conversation', async () => {
    const { sessionId, instanceId } = await open({ conversation_level: 'off' }, { ready_at: null });
    await deliver(exitOf(instanceId, failed));
    expect(await stored(sessionId)).toMatchObject({ events: [{ detail: { tail: 'Traceback' } }] });
  });

  it('removes the files of an instance that has no database row', async () => {
    expect(await deliver(exitOf(newId(), failed))).toEqual(['forget']);
  });

  it.each<[state: 'ready' | 'stopping', calls: string[]]>([
    ['ready', ['idle exit 3', 'forget']],
    ['stopping', ['forget']],
  ])(
    'without a session counts as a failure of the deployment unless the instance was being stopped (state: %s)',
    async (state, calls) => {
      const instanceId = await rows.instance(of, { state });
      expect(await deliver(exitOf(instanceId, failed))).toEqual(calls);
      // The first exit event marked the instance as ended, so a second event for the same exit does not count against the
      // deployment.
      expect(await deliver(exitOf(instanceId, failed))).toEqual(['forget']);
    },
  );

  it.each<[exit: string, InstanceExit, afterSeconds: number, events: number]>([
    ['SIGTERM', killed('SIGTERM'), 1, 0],
    ['SIGKILL in the grace period', killed('SIGKILL'), 4, 1],
    ['SIGKILL after the grace period', killed('SIGKILL'), 5, 0],
    ['SIGKILL because of its memory', { ...killed('SIGKILL'), reason: 'out-of-memory', outOfMemory: true }, 5, 1],
    ['SIGTERM because of its disk', { ...killed('SIGTERM'), reason: 'disk', diskLimit: 'over 1 GiB' }, 1, 1],
    ['SIGTERM by the platform', { ...killed('SIGTERM'), reason: 'platform', platformCause: 'Evicted.' }, 1, 1],
    ['code 3', failed, 1, 1],
  ])(
    'after the end of the session: adds an event only if the service did not cause the exit (%s)',
    async (_, exit, afterSeconds, events) => {
      const endedAt = secondsAgo(9);
      const { sessionId, instanceId } = await open({ state: 'ended', ended_at: endedAt, completion_status: '200' });
      await deliver(exitOf(instanceId, exit, secondsAgo(9 - afterSeconds)));
      const session = await stored(sessionId);
      expect(session.events).toHaveLength(events);
      expect(session).toMatchObject({ completion_status: '200', ended_at: endedAt });
    },
  );
});
