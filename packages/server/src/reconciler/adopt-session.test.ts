import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type TestDatabaseRows, testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { findInstance } from '../instances/lifecycle.ts';
import { listOpenSessions } from '../sessions/progress.ts';
import { createSessionAddressRegistry } from '../sessions/session-address-registry.ts';
import { type AdoptionContext, adoptSession } from './adopt-session.ts';
import { createSessionOwnershipRegistry } from './session-ownership.ts';

const rows = await useTestRows();
const of = await rows.deployedAgent();

/**
 * A session that no server owns, with a ready instance. No bot listens, and the deadline to accept the session has passed, so an
 * adoption ends the session with BOT_START_TIMEOUT.
 */
async function open(
  session: Parameters<TestDatabaseRows['session']>[1] = {},
  instance: Parameters<TestDatabaseRows['instance']>[1] = {},
  fields: Partial<AdoptionContext> = {},
) {
  const sessionId = await rows.session(of, session);
  const address = { socket: '/missing/bot.sock', host: null, port: null };
  const instanceId = await rows.instance(of, {
    session_id: sessionId,
    reports_session: true,
    ...address,
    ...instance,
  });
  const row = (await listOpenSessions(rows.db, 'us-west')).find(({ id }) => id === sessionId);
  const instanceRow = await findInstance(rows.db, instanceId);
  if (row === undefined || instanceRow === undefined) throw new Error('The rows are missing.');
  const ended: string[] = [];
  const ownership = createSessionOwnershipRegistry();
  const sessionAddresses = createSessionAddressRegistry({ db: rows.db, host: { id: of.hostId, region: 'us-west' } });
  const context: AdoptionContext = {
    db: rows.db,
    now: () => testNow,
    key: randomBytes(32),
    ownership,
    iceServersOf: () => [],
    createRoomRequest: async ({ body }) => ({ headers: {}, body: body ?? '{}' }),
    recordMeetings: async () => undefined,
    sessionAddresses,
    sampler: { begin: () => undefined },
    conversationFollowers: { begin: () => undefined },
    watchStart: () => undefined,
    closing: new AbortController().signal,
    acceptDeadline: () => AbortSignal.abort(),
    isInstanceReachable: () => true,
    isReachable: () => true,
    retryWrite: (write) => write(),
    endSession: async (_, status) => void ended.push(status),
    recordBotFailure: async () => undefined,
    replaceInstance: async () => null,
    drainBot: async () => undefined,
    onDispatch: () => undefined,
    onOpen: () => undefined,
    onLive: () => undefined,
    ...fields,
  };
  return { sessionId, ended, ownership, sessionAddresses, adopt: () => adoptSession(context, row, instanceRow) };
}

describe('adoptSession', () => {
  it("takes ownership of the session, publishes the instance's address, and asks the bot for the session's state", async () => {
    const { sessionId, ended, ownership, sessionAddresses, adopt } = await open();
    await adopt();
    expect(ownership.has(sessionId)).toBe(true);
    expect(sessionAddresses.known(sessionId)?.address).toEqual({ socket: '/missing/bot.sock' });
    expect(ended).toEqual(['BOT_START_TIMEOUT']);
  });

  it('releases ownership of a session that ended after the caller read its database row', async () => {
    const { sessionId, ended, ownership, sessionAddresses, adopt } = await open();
    const end = { state: 'ended', ended_at: testNow, completion_status: '200' } as const;
    await rows.update('sessions', sessionId, end);
    await adopt();
    expect(ownership.has(sessionId)).toBe(false);
    expect(sessionAddresses.known(sessionId)).toBeUndefined();
    expect(ended).toEqual([]);
  });

  it('releases ownership of a session whose instance has just exited', async () => {
    const { sessionId, ended, ownership, adopt } = await open({}, {}, { isInstanceReachable: () => false });
    await adopt();
    expect(ownership.has(sessionId)).toBe(false);
    expect(ended).toEqual([]);
  });

  it('releases the session if the adoption fails, so that the next reconcile pass retries the adoption', async () => {
    const error = new Error('The database rejects the query.');
    const { sessionId, ownership, adopt } = await open({}, {}, { retryWrite: () => Promise.reject(error) });
    await expect(adopt()).rejects.toBe(error);
    expect(ownership.has(sessionId)).toBe(false);
  });

  it.each<[subject: string, Parameters<TestDatabaseRows['session']>[1], Parameters<TestDatabaseRows['instance']>[1]]>([
    ['a WebSocket session, which the request that relays it owns', { transport: 'websocket' }, {}],
    ['a session whose instance has no address', {}, { socket: null }],
  ])('does not take ownership of %s', async (_, session, instance) => {
    const { sessionId, ended, ownership, adopt } = await open(session, instance);
    await adopt();
    expect(ownership.has(sessionId)).toBe(false);
    expect(ended).toEqual([]);
  });
});
