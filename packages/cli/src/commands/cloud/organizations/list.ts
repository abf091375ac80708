import { defineCommand } from '../../../command-line/command.ts';

export const command = defineCommand({
  summary: 'List the organizations that you can act in',
  details: 'Columns: name, display name, id, and which one is current.',
  arguments: {},
  options: {},
  examples: ['cloud organizations list'],
  run: async ({ service, settings }) => {
    const client = await service();
    const { organizations } = await client.listOrganizations();
    const selected = settings.organization?.value ?? organizations[0]?.name;
    const rows = organizations.map((one) => ({ ...one, current: one.name === selected || one.id === selected }));
    return {
      json: { organizations: rows },
      blocks: [
        {
          kind: 'table',
          columns: [{ title: 'Name' }, { title: 'Display name', dropOrder: 1 }, { title: 'Id' }, { title: 'Current' }],
          rows: rows.map(({ name, verboseName, id, current }) => [
            name,
            verboseName,
            id,
            current ? { text: 'current', tone: 'good' } : '',
          ]),
          empty: 'You are not a member of any organization.',
        },
      ],
    };
  },
});
