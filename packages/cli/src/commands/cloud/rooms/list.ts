import { defineCommand } from '../../../command-line/command.ts';
import { formatTime } from '../../../output/format.ts';
import { createTable } from '../../../output/table.ts';
import { formatDialinCheck } from '../../../rooms/connection-fields.ts';

export const command = defineCommand({
  summary: 'List the connected providers of rooms',
  details:
    'Columns: provider, domain, how incoming calls are recognized, rooms that exist or could not be deleted yet, connected.',
  examples: ['cloud rooms list'],
  run: async ({ service }) => {
    const client = await service();
    const { connections } = await client.listRoomConnections();
    const table = createTable(
      connections,
      'No provider of rooms is connected. Connect one with "botcli cloud rooms connect daily".',
      [
        ['Provider', ({ provider }) => provider],
        ['Domain', ({ account }) => account],
        ['Incoming calls', formatDialinCheck, { dropOrder: 2 }],
        ['Rooms', ({ openRooms }) => String(openRooms)],
        ['Connected', ({ connectedAt }) => formatTime(connectedAt), { dropOrder: 1 }],
      ],
    );
    return { json: { connections }, blocks: [table] };
  },
});
