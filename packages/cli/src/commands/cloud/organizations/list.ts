import { defineCommand } from '../../../command-line/command.ts';
import { createTable } from '../../../output/table.ts';

export const command = defineCommand({
  summary: 'List the organizations that you can act in',
  details: 'Columns: name, display name, id, and which one is current.',
  examples: ['cloud organizations list'],
  run: async ({ service, settings }) => {
    const client = await service();
    const { organizations } = await client.listOrganizations();
    const selected = settings.organization?.value ?? organizations[0]?.name;
    const rows = organizations.map((one) => ({ ...one, current: one.name === selected || one.id === selected }));
    const table = createTable(rows, 'You are not a member of any organization.', [
      ['Name', ({ name }) => name],
      ['Display name', ({ verboseName }) => verboseName, { dropOrder: 1 }],
      ['Id', ({ id }) => id],
      ['Current', ({ current }) => (current ? { text: 'current', tone: 'good' } : '')],
    ]);
    return { json: { organizations: rows }, blocks: [table] };
  },
});
