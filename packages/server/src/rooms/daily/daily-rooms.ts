import { createApiError } from '@bothost/contract';
import { z } from 'zod';
import type { Keyring } from '../../secrets/vault/keyring.ts';
import type { Database } from '../../store/tables.ts';
import {
  type BotRequest,
  type BotRoom,
  type CreatedRoom,
  type RoomProvider,
  RoomRefusedError,
  type RoomRequest,
} from '../room-provider.ts';
import { findDailyKey } from './daily-key.ts';
import { type DailyConnection, DailyError, sendDailyRequest } from './daily-request.ts';

type Context = { readonly db: Database; readonly keyring: Keyring; readonly daily: DailyConnection };

/**
 * Rooms at Daily (https://docs.daily.co/reference/rest-api). A room is private: its address without a token admits no one. The token
 * of the bot makes it the owner of the room, as in Pipecat's development runner.
 */
export function createDailyRooms(context: Context): RoomProvider {
  return {
    create: (request) => createRoom(context, request),
    remove: async ({ organizationId, name }, signal) => {
      const key = await findDailyKey(context, organizationId);
      if (key === null) throw new Error('the organization has no key of Daily');
      try {
        await sendDailyRequest(
          context.daily,
          key.apiKey,
          { method: 'DELETE', path: `/rooms/${name}`, signal },
          z.unknown(),
        );
      } catch (error) {
        if (!(error instanceof DailyError && error.refusal === 404)) throw error;
      }
    },
    createBotRequest: (organizationId, room, body) => createBotRequest(context, organizationId, room, body),
  };
}

const Room = z.object({ url: z.url() });
const Token = z.object({ token: z.string() });

async function createRoom(context: Context, request: RoomRequest): Promise<CreatedRoom> {
  const { name, roomProperties, tokenProperties } = request;
  const key = await findDailyKey(context, request.organizationId);
  if (key === null) throw new RoomRefusedError(createApiError('rooms-not-connected'));
  const exp = Math.floor(request.expiresAt.getTime() / 1000);
  const post = <Response extends z.ZodType>(path: string, body: object, schema: Response) =>
    sendDailyRequest(context.daily, key.apiKey, { method: 'POST', path, body }, schema);
  const properties = { exp, eject_at_room_exp: true, ...roomProperties };
  const room = await post('/rooms', { name, privacy: 'private', properties }, Room).catch((error: unknown) => {
    if (!(error instanceof DailyError)) throw error;
    throw error.refusal === null ? error.failure : new RoomRefusedError(error.failure);
  });
  const createToken = async (properties: object): Promise<string> =>
    (await post('/meeting-tokens', { properties: { exp, ...properties, room_name: name } }, Token)).token;
  try {
    const [bot, client] = await Promise.all([createToken({ is_owner: true }), createToken(tokenProperties)]);
    return { bot: { name, url: room.url, token: bot }, response: { dailyRoom: room.url, dailyToken: client } };
  } catch (error) {
    throw error instanceof DailyError ? error.failure : error;
  }
}

/** Headers of Pipecat Cloud, from which its base images make `DailyRunnerArguments`, too. */
async function createBotRequest(
  context: Context,
  organizationId: string,
  room: BotRoom,
  body: string,
): Promise<BotRequest> {
  const headers = { 'x-daily-room-url': room.url, 'x-daily-room-token': room.token };
  const own = JSON.parse(body) as object;
  // The bot itself connects the caller of an incoming call to the room, and needs the key for that (`DailyDialinRequest` in
  // Pipecat's `runner/types.py`).
  if (!('dialin_settings' in own)) return { headers, body };
  // The bot sends the key to this URL. A client that starts a session must not get the organization's key by naming its own server.
  if ('daily_api_url' in own) return { headers, body };
  const key = await findDailyKey(context, organizationId);
  const added = JSON.stringify({ daily_api_key: key?.apiKey ?? '', daily_api_url: context.daily.apiUrl });
  // The body stays as text, because parsing would change its numbers. If it has a key of its own, that one wins, as the last one.
  return { headers, body: `${added.slice(0, -1)},${body.slice(1)}` };
}

const Domain = z.object({ domain_name: z.string() });

/**
 * Asks Daily which domain a key belongs to.
 *
 * @throws failure `rooms-key-invalid`, `rooms-unavailable`, `rooms-busy`, `rooms-timeout`
 */
export async function findDailyDomain(connection: DailyConnection, apiKey: string): Promise<string> {
  try {
    return (await sendDailyRequest(connection, apiKey, { method: 'GET', path: '/' }, Domain)).domain_name;
  } catch (error) {
    if (!(error instanceof DailyError)) throw error;
    const isRefused = error.refusal !== null && error.refusal !== 429 && error.refusal !== 408;
    const message =
      'Daily does not accept this key. Copy the API key from the page Developers of https://dashboard.daily.co.';
    throw isRefused ? createApiError('rooms-key-invalid', { message }) : error.failure;
  }
}
