import type { ApiError, RoomTransport, StartResponse } from '@bothost/contract';
import { z } from 'zod';

export type RoomOfSession = {
  readonly organizationId: string;
  /** Derived from the session id, so that a room is deleted even if the server was killed while it created the room. */
  readonly name: string;
};

export type RoomRequest = RoomOfSession & {
  /** The provider closes the room at this time, even if it cannot be deleted. */
  readonly expiresAt: Date;
  /** Settings of the room, as the caller sent them. The provider checks them. */
  readonly roomProperties: Readonly<Record<string, unknown>>;
  /** Settings of the client's token, as the caller sent them. The provider checks them. */
  readonly tokenProperties: Readonly<Record<string, unknown>>;
};

/** What a bot needs to join its room. It is stored, encrypted, until the session ends. */
export const BotRoom = z.object({ name: z.string(), url: z.string(), token: z.string() });
export type BotRoom = z.output<typeof BotRoom>;

export type CreatedRoom = {
  readonly bot: BotRoom;
  /** The fields of the response to the start with which the client joins the room. */
  readonly response: Pick<StartResponse, 'dailyRoom' | 'dailyToken' | 'url' | 'token'>;
};

/** What the bot of a session gets with `POST /bot`. */
export type BotRequest = { readonly headers: Readonly<Record<string, string>>; readonly body: string };

/** A provider of rooms. A session has the transport of its provider's name. */
export type RoomProvider = {
  /**
   * Creates a room and the tokens of its bot and its client.
   *
   * @throws RoomRefusedError if there is certainly no room to delete
   * @throws failure `rooms-refused`, `rooms-key-refused`, `rooms-unavailable`, `rooms-busy`, `rooms-timeout`, after which the room
   * may exist
   */
  readonly create: (request: RoomRequest) => Promise<CreatedRoom>;
  /** Deletes a room. Resolves if the room does not exist. Rejects if the deletion must be repeated; the message says why. */
  readonly remove: (room: RoomOfSession, signal: AbortSignal) => Promise<void>;
  /** Returns the headers of the room for its bot, and the body with everything that must not be stored with the session. */
  readonly createBotRequest: (organizationId: string, room: BotRoom, body: string) => Promise<BotRequest>;
};

export type RoomProviders = Readonly<Record<RoomTransport, RoomProvider>>;

/** Thrown if a provider created no room. `failure` is what the caller of the start sees. */
export class RoomRefusedError extends Error {
  override readonly name = 'RoomRefusedError';
  readonly failure: ApiError;
  constructor(failure: ApiError) {
    super(failure.message);
    this.failure = failure;
  }
}
