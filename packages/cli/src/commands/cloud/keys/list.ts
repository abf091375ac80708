import type { ApiKey } from '@bothost/contract';
import { defineCommand } from '../../../command-line/command.ts';
import { formatTime } from '../../../output/format.ts';
import type { Cell } from '../../../output/report.ts';

export const command = defineCommand({
  summary: 'List the API keys of the organization, including revoked ones',
  details: 'Columns: id, name, kind, key (the first characters of a private one), status, created, expires, last used.',
  arguments: {},
  options: {},
  examples: ['cloud keys list'],
  run: async ({ service, io }) => {
    const client = await service();
    const { keys } = await client.listKeys();
    const now = io.now().toISOString();
    return {
      json: { keys },
      blocks: [
        {
          kind: 'table',
          columns: [
            { title: 'Id' },
            { title: 'Name' },
            { title: 'Kind' },
            { title: 'Key', dropOrder: 4 },
            { title: 'Status' },
            { title: 'Created', dropOrder: 3 },
            { title: 'Expires', dropOrder: 2 },
            { title: 'Last used', dropOrder: 1 },
          ],
          rows: keys.map((key) => [
            key.id,
            key.name,
            key.kind,
            key.key ?? `${key.start}...`,
            statusCell(key, now),
            formatTime(key.createdAt),
            formatTime(key.expiresAt),
            formatTime(key.lastUsedAt),
          ]),
          empty: 'No API keys found.',
        },
      ],
    };
  },
});

/** Compares times as strings, because all times from the service have the same format. */
function statusCell(key: ApiKey, now: string): Cell {
  if (key.revokedAt !== null) return { text: 'Revoked', tone: 'bad' };
  if (key.expiresAt !== null && key.expiresAt <= now) return { text: 'Expired', tone: 'warn' };
  return { text: 'Active', tone: 'good' };
}
