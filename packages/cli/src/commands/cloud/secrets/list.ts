import { command as define } from '../../../command-line/command.ts';
import { onOff, text } from '../../../command-line/options.ts';

export const command = define({
  summary: 'List secret sets, or the keys of one; never a value',
  details:
    'Columns: name, region, status (pending until the region has the latest revision, then ready, or failed), revision, ' +
    'number of keys, updated. With a name: its keys with their fingerprints, the revision in which each was last written, ' +
    'and the agents that run with the set, those on an older revision marked.',
  arguments: { name: { description: 'A secret set', optional: true } },
  options: {
    sets: onOff('Secret sets only (the default); --no-sets shows image pull secrets, too', 's'),
    region: text({ description: 'Only those in this region', short: 'r', placeholder: 'REGION' }),
  },
  examples: [
    'cloud secrets list',
    'cloud secrets list my-bot-secrets',
    'cloud secrets list --no-sets --region us-west',
  ],
  run: async (context, { name, sets = true, region }) => {
    if (name === undefined) {
      const { listSets } = await import('../../../secrets/list-sets.ts');
      return listSets(context, { region, onlySets: sets });
    }
    const { showSet } = await import('../../../secrets/show-set.ts');
    return showSet(context, { name, region });
  },
});
