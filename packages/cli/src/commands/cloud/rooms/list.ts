import { defineCommand } from '../../../command-line/command.ts';
import { formatTime } from '../../../output/format.ts';
import { formatDialinCheck } from '../../../rooms/connection-fields.ts';

export const command = defineCommand({
  summary: 'List the connected providers of rooms',
  details:
    'Columns: provider, domain, how incoming calls are recognized, rooms that exist or could not be deleted yet, connected.',
  arguments: {},
  options: {},
  examples: ['cloud rooms list'],
  run: async ({ service }) => {
    const client = await service();
    const { connections } = await client.listRoomConnections();
    return {
      json: { connections },
      blocks: [
        {
          kind: 'table',
          columns: [
            { title: 'Provider' },
            { title: 'Domain' },
            { title: 'Incoming calls', dropOrder: 2 },
            { title: 'Rooms' },
            { title: 'Connected', dropOrder: 1 },
          ],
          rows: connections.map((connection) => [
            connection.provider,
            connection.account,
            formatDialinCheck(connection),
            String(connection.openRooms),
            formatTime(connection.connectedAt),
          ]),
          empty: 'No provider of rooms is connected. Connect one with "botcli cloud rooms connect daily".',
        },
      ],
    };
  },
});
