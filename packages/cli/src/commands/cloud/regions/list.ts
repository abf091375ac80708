import { defineCommand } from '../../../command-line/command.ts';
import { createTable } from '../../../output/table.ts';

export const command = defineCommand({
  summary: 'List the regions where bots can run',
  details:
    'Columns: code, name, what agents are deployed from (build: an uploaded project; image: a container image), and which one is the default of the organization.',
  examples: ['cloud regions list'],
  run: async ({ service }) => {
    const client = await service();
    const [{ regions }, { properties }] = await Promise.all([client.listRegions(), client.getProperties()]);
    const rows = regions.map((region) => ({ ...region, default: region.code === properties.defaultRegion }));
    const table = createTable(rows, 'No regions found.', [
      ['Code', ({ code }) => code],
      ['Name', (region) => region.display_name],
      ['Deploys', ({ accepts }) => accepts],
      ['Default', (region) => (region.default ? { text: 'default', tone: 'good' } : '')],
    ]);
    return { json: { regions: rows }, blocks: [table] };
  },
});
