import { afterAll, describe, expect, it } from 'vitest';
import { evaluateJavaScriptInBot, stopAgentSession, waitForSessionEnd } from '../support/client.ts';
import { startLiveKitStandIn } from '../support/livekit.ts';
import { signUpPerson } from '../support/people.ts';
import { useTestServer } from '../support/use-test-server.ts';

const livekit = await startLiveKitStandIn();
afterAll(livekit.close);
const service = await useTestServer({ bots: { default: {} }, environment: livekit.settings });
const params = { agentName: 'default' };
const start = (query = {}) => service.publicClient.startSession({ params, query, body: { transport: 'livekit' } });
const countSessions = async () => (await service.client.getSessions({ params })).total_count;

describe('a session in a room of LiveKit', () => {
  it('has a room, tokens for its bot and its client, and no room after its end', async () => {
    const { sessionId = '', url, token = '' } = await start();
    const room = `bothost-${sessionId.replaceAll('-', '')}`;
    expect(url).toBe(livekit.url);
    expect(livekit.listRooms()).toEqual([room]);
    const { headers } = await evaluateJavaScriptInBot<{ headers: Record<string, string> }>(
      service,
      'default',
      sessionId,
      'state.starts[0]',
    );
    expect(headers).toMatchObject({
      'x-transport-type': 'livekit',
      'bothost-livekit-url': livekit.url,
      'bothost-livekit-room': room,
    });
    const bot = await livekit.readToken(headers['bothost-livekit-token'] ?? '');
    expect(bot['video']).toEqual({ roomJoin: true, room, agent: true });
    expect((await livekit.readToken(token))['video']).toEqual({ roomJoin: true, room });
    expect(JSON.stringify(headers)).not.toContain(livekit.apiSecret);

    const further = await service.client.admitParticipant({ params: { ...params, sessionId }, body: { name: 'Ada' } });
    expect(await livekit.readToken(further.token)).toMatchObject({ name: 'Ada', video: { roomJoin: true, room } });
    await stopAgentSession(service, 'default', sessionId);
    await waitForSessionEnd(service, 'default', sessionId);
    await expect.poll(livekit.listRooms).toEqual([]);
  });

  it('has a room until LiveKit accepts the deletion, which the service repeats', async () => {
    const { sessionId = '' } = await start();
    livekit.fail(true);
    await stopAgentSession(service, 'default', sessionId);
    await waitForSessionEnd(service, 'default', sessionId);
    expect(livekit.listRooms()).toHaveLength(1);
    livekit.fail(false);
    await expect.poll(livekit.listRooms).toEqual([]);
  });

  it('is not started if LiveKit creates no room', async () => {
    livekit.fail(true);
    const before = await countSessions();
    await expect(start()).rejects.toMatchObject({ status: 502, reason: 'rooms-unavailable' });
    expect(await countSessions()).toBe(before);
    livekit.fail(false);
  });

  it('gives a person who starts it the token of the room, and only the requested fields to other clients', async () => {
    const ada = await signUpPerson(service, 'ada');
    const own = await ada.within(service.organization).startMemberSession({ params, body: { transport: 'livekit' } });
    expect((await livekit.readToken(own.token ?? ''))['video']).toMatchObject({ roomJoin: true });
    await stopAgentSession(service, 'default', own.sessionId ?? '');
    expect(Object.keys(await start({ fields: 'url,token' })).sort()).toEqual(['token', 'url']);
  });
});
