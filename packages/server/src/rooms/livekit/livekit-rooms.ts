import { randomBytes } from 'node:crypto';
import { createApiError, maxSessionStartWaitSeconds } from '@bothost/contract';
import type { Logger } from 'pino';
import { type RoomProvider, RoomRefusedError } from '../room-provider.ts';
import { signAccessToken } from './access-token.ts';
import type { LiveKitServer } from './livekit-server.ts';
import { callRoomService, RoomServiceError } from './room-service.ts';

export type LiveKitRooms = RoomProvider & {
  /**
   * Creates a token with which a person joins a room. `name` is what the other participants see.
   *
   * @throws failure `livekit-not-configured`
   */
  readonly admit: (
    room: string,
    person: { readonly name: string | undefined; readonly expiresAt: Date },
  ) => Promise<{ readonly url: string; readonly token: string; readonly identity: string }>;
};

/** Seconds for which LiveKit keeps a room until its first participant joins: the longest start of a session, and more. */
const emptySeconds = maxSessionStartWaitSeconds + 300;

/** Rooms of the operator's LiveKit server; `server` is null without one. Participants get a token for one room, not the secret. */
export function createLiveKitRooms(
  server: LiveKitServer | null,
  { now, logger }: { readonly now: () => Date; readonly logger: Pick<Logger, 'error'> },
): LiveKitRooms {
  const admit: LiveKitRooms['admit'] = async (room, { name = 'User', expiresAt }) => {
    if (server === null) throw createApiError('livekit-not-configured');
    const identity = createIdentity(name);
    const token = await signAccessToken(server, { grant: { roomJoin: true, room }, identity, name, expiresAt });
    return { url: server.url, token, identity };
  };
  return {
    admit,
    create: async ({ name: room, expiresAt }) => {
      if (server === null) throw new RoomRefusedError(createApiError('livekit-not-configured'));
      try {
        await callRoomService(server, now(), 'CreateRoom', { name: room, empty_timeout: emptySeconds });
      } catch (error) {
        logger.error({ err: error }, 'livekit room not created');
        const failure = createApiError(isTimeout(error) ? 'rooms-timeout' : 'rooms-unavailable');
        throw error instanceof RoomServiceError ? new RoomRefusedError(failure) : failure;
      }
      const name = 'Pipecat Agent';
      const grant = { roomJoin: true, room, agent: true } as const;
      const [token, client] = await Promise.all([
        signAccessToken(server, { grant, identity: createIdentity(name), name, expiresAt }),
        admit(room, { name: undefined, expiresAt }),
      ]);
      return { bot: { name: room, url: server.url, token }, response: { url: server.url, token: client.token } };
    },
    remove: async ({ name: room }, signal) => {
      if (server === null) throw new Error('No LiveKit server is configured.');
      await callRoomService(server, now(), 'DeleteRoom', { room }, signal).catch((error) => {
        if (!(error instanceof RoomServiceError && error.code === 'not_found')) throw error;
      });
    },
    createBotRequest: async (_, { name, url, token }, body) => ({
      headers: { 'bothost-livekit-room': name, 'bothost-livekit-url': url, 'bothost-livekit-token': token },
      body,
    }),
  };
}

/** LiveKit disconnects a participant if another one joins the room with the same identity. */
function createIdentity(name: string): string {
  return `${name}-${randomBytes(4).toString('hex')}`;
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}
