import { defineCommand } from '../../../command-line/command.ts';
import { choiceOption, flagOption, textOption } from '../../../command-line/options.ts';
import {
  dryRunOption,
  expectedRevisionOption,
  regionOption,
  skipConfirmationOption,
  waitOption,
} from '../../../secrets/options.ts';

export const command = defineCommand({
  summary: 'Create a secret set or change its keys',
  details:
    'Values can be given in several ways:\n' +
    'KEY prompts for the value without showing it. KEY=- reads standard input, KEY=@FILE a file. --file reads a ' +
    'file of KEY=value lines; keys without a value are skipped and listed.\n' +
    'KEY=value takes the value unchanged. A value with spaces can also be quoted: \'KEY="two words"\', or ' +
    "several pairs in one argument: 'A=1 B=\"two words\"'. Arguments stay in the shell's history and are visible " +
    'in the process list.\n' +
    'Other keys of the set stay unless --replace is given. All changes are stored in one revision, or none. The ' +
    'command shows the changed keys with length and fingerprint and asks for confirmation; without a terminal ' +
    'it needs --skip.\n' +
    'Running bots keep their values until their agents are deployed again.',
  arguments: {
    name: { description: 'Name of the set: letters, digits and hyphens' },
    pairs: { description: 'KEY=value, KEY, KEY=- or KEY=@FILE', optional: true, many: true },
  },
  options: {
    file: textOption({
      description: 'File with KEY=value lines; - reads standard input',
      short: 'f',
      placeholder: 'FILE',
    }),
    format: choiceOption({ description: 'Format of the file, env by default' }, ['env', 'json']),
    skip: skipConfirmationOption,
    region: regionOption,
    replace: flagOption('Remove all keys that are not given'),
    'if-revision': expectedRevisionOption,
    'dry-run': dryRunOption,
    wait: waitOption,
  },
  examples: [
    'cloud secrets set my-bot-secrets --file .env',
    'cloud secrets set my-bot-secrets OPENAI_API_KEY',
    'cloud secrets set my-bot-secrets GREETING=hello TLS_KEY=@key.pem --skip --wait',
  ],
  run: async (context, values) => {
    const { writeSecretSet } = await import('../../../secrets/set-keys.ts');
    return writeSecretSet(context, {
      name: values.name,
      pairs: values.pairs,
      file: values.file,
      format: values.format ?? 'env',
      skip: values.skip,
      region: values.region,
      replaces: values.replace,
      ifRevision: values['if-revision'],
      isDryRun: values['dry-run'],
      waitSeconds: values.wait,
    });
  },
});
