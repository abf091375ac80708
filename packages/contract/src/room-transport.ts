import { z } from 'zod';

/** The providers of rooms. A session in a room has the transport of its provider's name. */
export const RoomTransport = z.enum(['daily']);
export type RoomTransport = z.infer<typeof RoomTransport>;

export function isRoomTransport(name: string): name is RoomTransport {
  return RoomTransport.safeParse(name).success;
}
