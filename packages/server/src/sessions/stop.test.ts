import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ago, type TestRows, testNow, testRows } from '../../test/support/test-rows.ts';
import { newId } from '../store/uuid.ts';
import { decideEnd, markDispatched, markLive } from './progress.ts';
import { stopSession } from './stop.ts';

let rows: TestRows;
let organizationId: string;
let hostId: string;

beforeAll(async () => {
  rows = await testRows();
  organizationId = await rows.organization();
  hostId = await rows.host();
});
afterAll(() => rows.close());

const context = () => ({ db: rows.db, now: () => testNow });
/** An agent of a name of its own, with a serving deployment. */
async function agent(fields: Parameters<TestRows['deployment']>[1] = {}, more: Parameters<TestRows['agent']>[1] = {}) {
  const name = `a${newId().slice(-12)}`;
  const agentId = await rows.agent(organizationId, { name, ...more });
  const deploymentId = await rows.deployment(agentId, fields);
  return { name, of: { organizationId, agentId, deploymentId, hostId } };
}
const sessionRow = (id: string) => rows.db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst();

describe('the stop of a session', () => {
  const stop = (name: string, sessionId: string) => stopSession(context(), { organizationId }, name, sessionId);

  it.each(['starting', 'live'] as const)('that is %s is decided, and not yet its end', async (state) => {
    const { name, of } = await agent();
    const id = await rows.session(of, { state });
    await stop(name, id);
    expect(await sessionRow(id)).toMatchObject({ state: 'ending', ending_status: 'SESSION_STOPPED', ended_at: null });
  });

  it('twice is the same as once', async () => {
    const { name, of } = await agent();
    const id = await rows.session(of, { state: 'live' });
    await stop(name, id);
    await stop(name, id.toUpperCase());
    expect(await sessionRow(id)).toMatchObject({ state: 'ending' });
  });

  it('does not change a cause that was decided before', async () => {
    const { name, of } = await agent();
    const id = await rows.session(of, { state: 'ending', ending_status: 'SESSION_TIME_LIMIT' });
    await stop(name, id);
    expect(await sessionRow(id)).toMatchObject({ ending_status: 'SESSION_TIME_LIMIT' });
  });

  it('whose client never came ends it', async () => {
    const { name, of } = await agent();
    const id = await rows.session(of, { state: 'waiting', transport: 'websocket' });
    await stop(name, id);
    expect(await sessionRow(id)).toMatchObject({
      state: 'ended',
      completion_status: 'SESSION_STOPPED',
      ended_at: testNow,
    });
  });

  it("that has ended, is another agent's, or is none, is 404", async () => {
    const { name, of } = await agent();
    const other = await agent();
    const ended = await rows.session(of, { state: 'ended', completion_status: '500', ended_at: testNow });
    const theirs = await rows.session(other.of, { state: 'live' });
    for (const id of [ended, theirs, newId(), 'x', '']) {
      await expect(stop(name, id)).rejects.toMatchObject({ reason: 'not-found' });
    }
    expect(await sessionRow(theirs)).toMatchObject({ state: 'live' });
  });
});

describe('the progress of a session', () => {
  it('to live is written once: the first moment counts', async () => {
    const { of } = await agent();
    const id = await rows.session(of);
    await markLive(context(), id, { at: ago(5), readyAt: ago(6), cold: true });
    await markLive(context(), id, { at: testNow, readyAt: testNow, cold: false });
    expect(await sessionRow(id)).toMatchObject({
      state: 'live',
      bot_started_at: ago(5),
      ready_at: ago(6),
      cold_start: true,
    });
  });

  it('does not bring back one whose end is decided', async () => {
    const { of } = await agent();
    const id = await rows.session(of);
    expect(await decideEnd(context(), id, 'SESSION_STOPPED')).toBe(true);
    expect(await decideEnd(context(), id, 'SESSION_TIME_LIMIT')).toBe(false);
    await markLive(context(), id, { at: testNow, readyAt: testNow, cold: false });
    await markDispatched(context(), id);
    expect(await sessionRow(id)).toMatchObject({
      state: 'ending',
      ending_status: 'SESSION_STOPPED',
      handed_over_at: null,
    });
  });
});
