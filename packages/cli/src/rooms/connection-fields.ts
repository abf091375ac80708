import type { RoomConnection } from '@bothost/contract';
import { formatTime } from '../output/format.ts';
import type { Cell } from '../output/report.ts';

/** The fields of a provider of rooms. `title` says what happened to it. */
export function createConnectionFields(
  title: 'Connected' | 'Disconnected',
  connection: RoomConnection,
): readonly (readonly [string, Cell])[] {
  return [
    [title, connection.provider],
    ['Domain', connection.account],
    ['Incoming calls', formatDialinCheck(connection)],
    ['Rooms', String(connection.openRooms)],
    ['Since', formatTime(connection.connectedAt)],
  ];
}

/** Says how the service recognizes announcements of calls. */
export function formatDialinCheck({ signsDialin }: Pick<RoomConnection, 'signsDialin'>): string {
  return signsDialin ? 'signed by the provider' : 'secret address for each agent';
}
