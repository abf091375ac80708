import { defineCommand } from '../../../command-line/command.ts';
import { switchOption, textOption } from '../../../command-line/options.ts';

export const command = defineCommand({
  summary: 'List secret sets, or show one set without its values',
  details:
    'Columns: name, region, status, revision, number of keys, updated. The status is pending until the region ' +
    'has the latest revision, then ready or failed.\n' +
    'With a name: the keys with their fingerprints and last revisions, and the agents that use the set.',
  arguments: { name: { description: 'A secret set', optional: true } },
  options: {
    sets: switchOption('List only secret sets (the default); --no-sets includes image pull secrets', 's'),
    region: textOption({ description: 'Only sets in this region', short: 'r', placeholder: 'REGION' }),
  },
  examples: [
    'cloud secrets list',
    'cloud secrets list my-bot-secrets',
    'cloud secrets list --no-sets --region us-west',
  ],
  run: async (context, { name, sets = true, region }) => {
    if (name === undefined) {
      const { listSecretSets } = await import('../../../secrets/list-sets.ts');
      return listSecretSets(context, { region, onlySets: sets });
    }
    const { showSecretSet } = await import('../../../secrets/show-set.ts');
    return showSecretSet(context, { name, region });
  },
});
