import { defineCommand } from '../../../command-line/command.ts';
import { choiceOption, requiredOption, textOption } from '../../../command-line/options.ts';

export const command = defineCommand({
  summary: 'Compare a local file with a secret set',
  details:
    'The service compares fingerprints. Nothing is stored, and no value is shown. Signs: + only in the file, ~ ' +
    'different, = equal, - only in the set.',
  arguments: { name: { description: 'Name of the set' } },
  options: {
    file: requiredOption(
      textOption({ description: 'File with KEY=value lines; - reads standard input', short: 'f', placeholder: 'FILE' }),
    ),
    format: choiceOption({ description: 'Format of the file, env by default' }, ['env', 'json']),
  },
  examples: ['cloud secrets diff my-bot-secrets --file .env'],
  run: async (context, { name, file, format = 'env' }) => {
    const { diffSecretSet } = await import('../../../secrets/diff-set.ts');
    return diffSecretSet(context, { name, file, format });
  },
});
