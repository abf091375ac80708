import type { ApiKey } from '@bothost/contract';
import { defineCommand } from '../../../command-line/command.ts';
import { formatTime } from '../../../output/format.ts';
import type { Cell } from '../../../output/report.ts';
import { createTable } from '../../../output/table.ts';

export const command = defineCommand({
  summary: 'List the API keys of the organization, including revoked ones',
  details: 'Columns: id, name, kind, key (the first characters of a private one), status, created, expires, last used.',
  examples: ['cloud keys list'],
  run: async ({ service, io }) => {
    const client = await service();
    const { keys } = await client.listKeys();
    const now = io.now().toISOString();
    const table = createTable(keys, 'No API keys found.', [
      ['Id', ({ id }) => id],
      ['Name', ({ name }) => name],
      ['Kind', ({ kind }) => kind],
      ['Key', ({ key, start }) => key ?? `${start}...`, { dropOrder: 4 }],
      ['Status', (key) => statusCell(key, now)],
      ['Created', ({ createdAt }) => formatTime(createdAt), { dropOrder: 3 }],
      ['Expires', ({ expiresAt }) => formatTime(expiresAt), { dropOrder: 2 }],
      ['Last used', ({ lastUsedAt }) => formatTime(lastUsedAt), { dropOrder: 1 }],
    ]);
    return { json: { keys }, blocks: [table] };
  },
});

/** Compares times as strings, because all times from the service have the same format. */
function statusCell(key: ApiKey, now: string): Cell {
  if (key.revokedAt !== null) return { text: 'Revoked', tone: 'bad' };
  if (key.expiresAt !== null && key.expiresAt <= now) return { text: 'Expired', tone: 'warn' };
  return { text: 'Active', tone: 'good' };
}
