import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { createLiveKitRooms } from '../rooms/livekit/livekit-rooms.ts';
import { newId } from '../store/uuid.ts';
import { admitParticipant } from './admit-participant.ts';

const rows = await useTestRows();
const server = { url: 'wss://livekit.example.com', apiKey: 'key', apiSecret: 'secret' };
const context = {
  db: rows.db,
  now: () => testNow,
  liveKitRooms: createLiveKitRooms(server, { now: () => testNow, logger: pino({ level: 'silent' }) }),
};
const organizationId = await rows.organization();
const agentName = 'parrot';
const agentId = await rows.agent(organizationId, { name: agentName });
const deploymentId = await rows.deployment(agentId, { max_session_seconds: 3600 });
const addSession = (fields: Parameters<typeof rows.session>[1]) =>
  rows.session({ organizationId, agentId, deploymentId }, fields);
const admit = (sessionId: string, name?: string) =>
  admitParticipant(context, { organizationId, keyId: null }, { agentName, sessionId }, name);

describe('admitParticipant', () => {
  it.each(['starting', 'live'] as const)(
    'creates a token for the room of a session that is %s, which expires after the longest session',
    async (state) => {
      const sessionId = await addSession({ state, transport: 'livekit' });
      const { url, token, identity, expiresAt } = await admit(sessionId, 'Ada');
      expect({ url, identity }).toEqual({ url: server.url, identity: expect.stringMatching(/^Ada-/) });
      const seconds = (Date.parse(expiresAt) - testNow.getTime()) / 1000;
      expect(seconds).toBeGreaterThanOrEqual(3600 + 300);
      const [, claims = ''] = token.split('.');
      expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
        name: 'Ada',
        sub: identity,
        exp: Date.parse(expiresAt) / 1000,
        video: { roomJoin: true, room: expect.stringContaining(sessionId.replaceAll('-', '')) },
      });
    },
  );

  it('refuses a session that is not in a room of LiveKit', async () => {
    for (const transport of ['none', 'webrtc', 'daily'] as const) {
      const sessionId = await addSession({ state: 'live', transport });
      await expect(admit(sessionId)).rejects.toMatchObject({ reason: 'not-in-livekit-room' });
    }
  });

  it('answers 404 for a session that is ending or has ended, or is missing', async () => {
    const ending = await addSession({ state: 'ending', ending_status: 'SESSION_STOPPED', transport: 'livekit' });
    const ended = await addSession({
      state: 'ended',
      completion_status: '200',
      ended_at: testNow,
      transport: 'livekit',
    });
    for (const id of [ending, ended, newId(), 'x'])
      await expect(admit(id)).rejects.toMatchObject({ reason: 'not-found' });
  });
});
