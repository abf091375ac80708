import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabaseRows, type TestDatabaseRows, testNow } from '../../test/support/test-rows.ts';
import { newId } from '../store/uuid.ts';
import { createSessionAddressDirectory } from './session-address-directory.ts';

const address = { host: '127.0.0.1', port: 40_000 };
const never = new AbortController().signal;
const entry = (fields: object = {}) => ({
  sessionId: newId(),
  organizationId: newId(),
  agentName: 'parrot',
  instanceId: newId(),
  address: null,
  ...fields,
});

describe('the session address directory', () => {
  let rows: TestDatabaseRows;
  let of: { organizationId: string; agentId: string; deploymentId: string; hostId: string };
  const open = () => createSessionAddressDirectory({ db: rows.db, host: { id: of.hostId, region: 'us-west' } });

  beforeAll(async () => {
    rows = await createTestDatabaseRows();
    const organizationId = await rows.organization();
    const agentId = await rows.agent(organizationId);
    of = { organizationId, agentId, deploymentId: await rows.deployment(agentId), hostId: await rows.host() };
  });
  afterAll(() => rows.close());

  it('contains a session from the claim of its instance until the session ends', async () => {
    const directory = open();
    const one = entry();
    directory.expect(one);
    expect(directory.known(one.sessionId.toUpperCase())).toEqual({ ...one, open: false });
    expect(directory.running()).toEqual([]);
    directory.ready(one.sessionId, address);
    expect(directory.running()).toEqual([{ sessionId: one.sessionId, instanceId: one.instanceId }]);
    directory.opened(one.sessionId);
    expect(directory.known(one.sessionId)).toEqual({ ...one, address, open: true });
    directory.ended(one.sessionId);
    expect(directory.known(one.sessionId)).toBeUndefined();
    expect(directory.running()).toEqual([]);
  });

  it('ignores updates for sessions that it does not contain', () => {
    const directory = open();
    directory.ready('unknown', address);
    directory.opened('unknown');
    directory.ended('unknown');
    expect(directory.known('unknown')).toBeUndefined();
  });

  it('resolves whenReady once the instance is ready, and whenOpen only once the bot has received the session', async () => {
    const directory = open();
    const one = entry();
    directory.expect(one);
    const resolved: unknown[] = [];
    const ready = directory
      .whenReady(one.sessionId, never)
      .then((found) => resolved.push(found === address && 'ready'));
    const opened = directory.whenOpen(one.sessionId, never).then((found) => resolved.push(found === address && 'open'));
    directory.ready(one.sessionId, address);
    await ready;
    expect(resolved).toEqual(['ready']);
    directory.opened(one.sessionId);
    await opened;
    expect(resolved).toEqual(['ready', 'open']);
    expect(await directory.whenOpen(one.sessionId, never)).toEqual(address);
  });

  it('never returns the address of an exited instance, and resolves whenOpen with null when the session ends', async () => {
    const directory = open();
    const one = entry();
    directory.expect(one);
    directory.ready(one.sessionId, address);
    directory.instanceExited(one.instanceId);
    directory.ready(one.sessionId, address);
    directory.opened(one.sessionId);
    expect(directory.known(one.sessionId)).toBeUndefined();
    const waiting = directory.whenOpen(one.sessionId, never);
    directory.ended(one.sessionId);
    expect(await waiting).toBeNull();
  });

  it('resolves whenReady and whenOpen with null when the session ends', async () => {
    const directory = open();
    const one = entry();
    directory.expect(one);
    const waiting = [directory.whenReady(one.sessionId, never), directory.whenOpen(one.sessionId, never)];
    directory.ended(one.sessionId);
    expect(await Promise.all(waiting)).toEqual([null, null]);
  });

  it('resolves whenOpen even if the session is added only after whenOpen was called', async () => {
    const directory = open();
    const one = entry();
    const waiting = directory.whenOpen(one.sessionId, never);
    directory.expect(one);
    directory.ready(one.sessionId, address);
    directory.opened(one.sessionId);
    expect(await waiting).toEqual(address);
  });

  it('resolves whenOpen with null when its signal aborts', async () => {
    const directory = open();
    const one = entry();
    directory.expect(one);
    const aborting = new AbortController();
    const waiting = directory.whenOpen(one.sessionId, aborting.signal);
    aborting.abort();
    expect(await waiting).toBeNull();
  });

  describe('find() for a session without an entry in memory', () => {
    const find = async (state: 'waiting' | 'starting' | 'live' | 'ending', instance?: 'starting' | 'ready') => {
      const sessionId = await rows.session(of, { state });
      const ready = instance === 'ready' ? {} : { state: 'starting' as const, host: null, port: null, ready_at: null };
      if (instance !== undefined) await rows.instance(of, { session_id: sessionId, ...ready });
      return { sessionId, found: await open().find(named(sessionId.toUpperCase())) };
    };
    const named = (sessionId: string) => ({ sessionId, organizationId: of.organizationId, agentName: 'parrot' });

    it.each([
      ['waiting', undefined],
      ['starting', 'starting'],
      ['starting', 'ready'],
      ['live', 'ready'],
    ] as const)('returns a session in state %s without the address of its instance', async (state, instance) => {
      const { sessionId, found } = await find(state, instance);
      expect(found).toMatchObject({ ...named(sessionId), address: null, open: false });
    });

    it('returns undefined for a session that is ending or ended', async () => {
      expect((await find('ending', 'ready')).found).toBeUndefined();
      const ended = await rows.session(of, { state: 'ended', completion_status: '500', ended_at: testNow });
      expect(await open().find(named(ended))).toBeUndefined();
    });

    it.each(['', 'x', newId()])('returns undefined for an invalid or unknown id (%j)', async (id) => {
      expect(await open().find(named(id))).toBeUndefined();
    });

    it('returns undefined for a session of another organization or agent', async () => {
      const { sessionId } = await find('live', 'ready');
      expect(await open().find({ ...named(sessionId), organizationId: newId() })).toBeUndefined();
      expect(await open().find({ ...named(sessionId), agentName: 'other' })).toBeUndefined();
      expect(await open().find({ ...named(sessionId), agentName: 'nul\0' })).toBeUndefined();
    });

    it.each([
      ['region', { hostRegion: 'us-west', region: 'eu-west' }],
      ['host', { hostRegion: 'eu-north', region: 'us-west' }],
    ])(
      'rejects with the error session-elsewhere if the instance of the session belongs to another %s',
      async (_, { hostRegion, region }) => {
        const { sessionId } = await find('live', 'ready');
        const hostId = hostRegion === 'us-west' ? of.hostId : await rows.host(hostRegion);
        const elsewhere = createSessionAddressDirectory({ db: rows.db, host: { id: hostId, region } });
        await expect(elsewhere.find(named(sessionId))).rejects.toMatchObject({ reason: 'session-elsewhere' });
      },
    );
  });
});
