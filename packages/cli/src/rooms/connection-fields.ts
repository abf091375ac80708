import type { RoomConnection } from '@bothost/contract';
import { formatTime } from '../output/format.ts';
import type { Cell } from '../output/report.ts';

/** The fields of a connected provider of rooms. */
export function createConnectionFields(connection: RoomConnection): readonly (readonly [string, Cell])[] {
  return [
    ['Provider', connection.provider],
    ['Domain', connection.account],
    ['Incoming calls', formatDialinCheck(connection)],
    ['Rooms', String(connection.openRooms)],
    ['Connected', formatTime(connection.connectedAt)],
  ];
}

/** Says how the service recognizes announcements of calls. */
export function formatDialinCheck({ signsDialin }: Pick<RoomConnection, 'signsDialin'>): string {
  return signsDialin ? 'signed by the provider' : 'secret address for each agent';
}
