import { describe, expect, it } from 'vitest';
import { testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { newId } from '../store/uuid.ts';
import { createSessionAddressRegistry } from './session-address-registry.ts';

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

const open = () => createSessionAddressRegistry({ db: rows.db, host: { id: of.hostId, region: 'us-west' } });

const rows = await useTestRows();
const of = await rows.deployedAgent();

describe('the session address registry', () => {
  it('contains a session from the claim of its instance until the session ends', async () => {
    const sessionAddresses = open();
    const one = entry();
    sessionAddresses.expect(one);
    expect(sessionAddresses.known(one.sessionId.toUpperCase())).toEqual({ ...one, open: false });
    sessionAddresses.ready(one.sessionId, address);
    expect(sessionAddresses.known(one.sessionId)).toEqual({ ...one, address, open: false });
    sessionAddresses.opened(one.sessionId);
    expect(sessionAddresses.known(one.sessionId)).toEqual({ ...one, address, open: true });
    sessionAddresses.ended(one.sessionId);
    expect(sessionAddresses.known(one.sessionId)).toBeUndefined();
  });

  it('ignores updates for sessions that it does not contain', () => {
    const sessionAddresses = open();
    sessionAddresses.ready('unknown', address);
    sessionAddresses.opened('unknown');
    sessionAddresses.ended('unknown');
    expect(sessionAddresses.known('unknown')).toBeUndefined();
  });

  it('resolves whenReady once the instance is ready, and whenOpen only once the bot has received the session', async () => {
    const sessionAddresses = open();
    const one = entry();
    sessionAddresses.expect(one);
    const resolved: unknown[] = [];
    const ready = sessionAddresses
      .whenReady(one.sessionId, never)
      .then((found) => resolved.push(found === address && 'ready'));
    const opened = sessionAddresses
      .whenOpen(one.sessionId, never)
      .then((found) => resolved.push(found === address && 'open'));
    sessionAddresses.ready(one.sessionId, address);
    await ready;
    expect(resolved).toEqual(['ready']);
    sessionAddresses.opened(one.sessionId);
    await opened;
    expect(resolved).toEqual(['ready', 'open']);
    expect(await sessionAddresses.whenOpen(one.sessionId, never)).toEqual(address);
  });

  it('never returns the address of an exited instance, and resolves whenOpen with null when the session ends', async () => {
    const sessionAddresses = open();
    const one = entry();
    sessionAddresses.expect(one);
    sessionAddresses.ready(one.sessionId, address);
    sessionAddresses.instanceExited(one.instanceId);
    sessionAddresses.ready(one.sessionId, address);
    sessionAddresses.opened(one.sessionId);
    expect(sessionAddresses.known(one.sessionId)).toBeUndefined();
    const waiting = sessionAddresses.whenOpen(one.sessionId, never);
    sessionAddresses.ended(one.sessionId);
    expect(await waiting).toBeNull();
  });

  it('calls a listener once when the instance exits or the session ends, and at once for an unknown session', () => {
    const sessionAddresses = open();
    const calls: string[] = [];
    const one = entry({ address });
    const two = entry({ address });
    for (const added of [one, two]) sessionAddresses.expect(added);
    sessionAddresses.onUnreachable(one.sessionId, () => calls.push('exited'));
    sessionAddresses.onUnreachable(one.sessionId, () => calls.push('removed'))();
    sessionAddresses.onUnreachable(two.sessionId.toUpperCase(), () => calls.push('ended'));
    expect(calls).toEqual([]);
    sessionAddresses.instanceExited(one.instanceId);
    sessionAddresses.ended(one.sessionId);
    sessionAddresses.ended(two.sessionId);
    sessionAddresses.onUnreachable(newId(), () => calls.push('unknown'));
    expect(calls).toEqual(['exited', 'ended', 'unknown']);
  });

  it('resolves whenReady and whenOpen with null when the session ends', async () => {
    const sessionAddresses = open();
    const one = entry();
    sessionAddresses.expect(one);
    const waiting = [sessionAddresses.whenReady(one.sessionId, never), sessionAddresses.whenOpen(one.sessionId, never)];
    sessionAddresses.ended(one.sessionId);
    expect(await Promise.all(waiting)).toEqual([null, null]);
  });

  it('resolves whenOpen even if the session is added only after whenOpen was called', async () => {
    const sessionAddresses = open();
    const one = entry();
    const waiting = sessionAddresses.whenOpen(one.sessionId, never);
    sessionAddresses.expect(one);
    sessionAddresses.ready(one.sessionId, address);
    sessionAddresses.opened(one.sessionId);
    expect(await waiting).toEqual(address);
  });

  it('resolves whenOpen with null when its signal aborts', async () => {
    const sessionAddresses = open();
    const one = entry();
    sessionAddresses.expect(one);
    const aborting = new AbortController();
    const waiting = sessionAddresses.whenOpen(one.sessionId, aborting.signal);
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
        const elsewhere = createSessionAddressRegistry({ db: rows.db, host: { id: hostId, region } });
        await expect(elsewhere.find(named(sessionId))).rejects.toMatchObject({ reason: 'session-elsewhere' });
      },
    );
  });
});
