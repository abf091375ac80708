import { z } from 'zod';

/** The providers of rooms. A session in a room has the transport of its provider's name. */
export const RoomTransport = z.enum(['daily', 'livekit']);
export type RoomTransport = z.infer<typeof RoomTransport>;

/** The providers of which each organization stores a key. The LiveKit server belongs to the operator of the service. */
export const KeyedRoomProvider = z.enum(['daily']);
export type KeyedRoomProvider = z.infer<typeof KeyedRoomProvider>;

export function isRoomTransport(name: string): name is RoomTransport {
  return RoomTransport.safeParse(name).success;
}
