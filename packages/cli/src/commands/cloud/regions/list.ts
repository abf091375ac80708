import { defineCommand } from '../../../command-line/command.ts';

export const command = defineCommand({
  summary: 'List the regions where bots can run',
  details:
    'Columns: code, name, what agents are deployed from (build: an uploaded project; image: a container image), and which one is the default of the organization.',
  arguments: {},
  options: {},
  examples: ['cloud regions list'],
  run: async ({ service }) => {
    const client = await service();
    const [{ regions }, { properties }] = await Promise.all([client.listRegions(), client.getProperties()]);
    const rows = regions.map((region) => ({ ...region, default: region.code === properties.defaultRegion }));
    return {
      json: { regions: rows },
      blocks: [
        {
          kind: 'table',
          columns: [{ title: 'Code' }, { title: 'Name' }, { title: 'Deploys' }, { title: 'Default' }],
          rows: rows.map((row) => [
            row.code,
            row.display_name,
            row.accepts,
            row.default ? { text: 'default', tone: 'good' } : '',
          ]),
          empty: 'No regions found.',
        },
      ],
    };
  },
});
