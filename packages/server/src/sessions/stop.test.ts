import { describe, expect, it } from 'vitest';
import { secondsAgo, testNow } from '../../test/support/test-rows.ts';
import { useSessionStarts } from '../../test/support/use-session-starts.ts';
import { newId } from '../store/uuid.ts';
import { markDispatched, markLive, recordEndCause } from './progress.ts';
import { stopSession } from './stop.ts';

const { rows, organizationId, context, agent, sessionRow } = await useSessionStarts();

describe('stopSession', () => {
  const stop = (name: string, sessionId: string) =>
    stopSession(context(), { organizationId, keyId: null }, name, sessionId);

  it.each(['starting', 'live'] as const)(
    'records the cause of the end of a session that is %s, but does not end it yet',
    async (state) => {
      const { name, of } = await agent();
      const id = await rows.session(of, { state });
      await stop(name, id);
      expect(await sessionRow(id)).toMatchObject({ state: 'ending', ending_status: 'SESSION_STOPPED', ended_at: null });
    },
  );

  it('has no effect on a session that is already stopping', async () => {
    const { name, of } = await agent();
    const id = await rows.session(of, { state: 'live' });
    await stop(name, id);
    await stop(name, id.toUpperCase());
    expect(await sessionRow(id)).toMatchObject({ state: 'ending' });
  });

  it('keeps the cause of the end if one was recorded earlier', async () => {
    const { name, of } = await agent();
    const id = await rows.session(of, { state: 'ending', ending_status: 'SESSION_TIME_LIMIT' });
    await stop(name, id);
    expect(await sessionRow(id)).toMatchObject({ ending_status: 'SESSION_TIME_LIMIT' });
  });

  it('ends a session immediately if its client has not connected', async () => {
    const { name, of } = await agent();
    const id = await rows.session(of, { state: 'waiting', transport: 'websocket' });
    await stop(name, id);
    expect(await sessionRow(id)).toMatchObject({
      state: 'ended',
      completion_status: 'SESSION_STOPPED',
      ended_at: testNow,
    });
  });

  it('answers 404 for a session that has ended, is missing, or belongs to another agent', async () => {
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

describe('markLive', () => {
  it('records only the first time that the bot accepts the session', async () => {
    const { of } = await agent();
    const id = await rows.session(of);
    await markLive(context(), id, { at: secondsAgo(5), readyAt: secondsAgo(6), cold: true });
    await markLive(context(), id, { at: testNow, readyAt: testNow, cold: false });
    expect(await sessionRow(id)).toMatchObject({
      state: 'live',
      bot_started_at: secondsAgo(5),
      ready_at: secondsAgo(6),
      cold_start: true,
    });
  });

  it('does not change a session that is already ending', async () => {
    const { of } = await agent();
    const id = await rows.session(of);
    expect(await recordEndCause(context(), id, 'SESSION_STOPPED')).toBe(true);
    expect(await recordEndCause(context(), id, 'SESSION_TIME_LIMIT')).toBe(false);
    await markLive(context(), id, { at: testNow, readyAt: testNow, cold: false });
    await markDispatched(context(), id);
    expect(await sessionRow(id)).toMatchObject({
      state: 'ending',
      ending_status: 'SESSION_STOPPED',
      dispatched_at: null,
    });
  });
});
