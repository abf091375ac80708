import { maxSessionStartWaitSeconds } from '@bothost/contract';

/** Seconds that a room outlives the longest start and the longest session, if it is not deleted. */
const marginSeconds = 600;

/** Returns when the room of a session expires. `maxSessionSeconds` is the time limit of the session. */
export function computeRoomExpiry(requestedAt: Date, maxSessionSeconds: number): Date {
  const lifetimeSeconds = maxSessionStartWaitSeconds + maxSessionSeconds + marginSeconds;
  return new Date(requestedAt.getTime() + lifetimeSeconds * 1000);
}
