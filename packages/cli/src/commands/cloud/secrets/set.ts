import { command as define } from '../../../command-line/command.ts';
import { choice, flag, text } from '../../../command-line/options.ts';
import { dryRun, ifRevision, region, skip, wait } from '../../../secrets/options.ts';

export const command = define({
  summary: 'Create a secret set, or write keys of one: all in one revision, or nothing',
  details:
    'Each pair is KEY=value, byte by byte; one argument may hold several (\'A=1 B="two words"\'). A value in an ' +
    "argument stays in the shell's history and is visible in the process list. Better: KEY alone, which asks and " +
    'shows nothing, KEY=- (standard input), KEY=@FILE, or --file. A file has KEY=value lines; values may be ' +
    'quoted. Keys without a value are left out and listed; a line that could be read in two ways is refused. ' +
    'Other keys of the set stay, unless --replace is given. Shows what changes, by length and fingerprint, and ' +
    'asks; without a terminal it needs --skip. Running bots keep their values until they are deployed again.',
  arguments: {
    name: { description: 'Name of the set: letters, digits and hyphens' },
    pairs: { description: 'KEY=value, KEY, KEY=- or KEY=@FILE', optional: true, many: true },
  },
  options: {
    file: text({ description: 'A file of KEY=value lines; - is standard input', short: 'f', placeholder: 'FILE' }),
    format: choice({ description: 'Format of the file, env by default' }, ['env', 'json']),
    skip,
    region,
    replace: flag('Remove the keys that are not named'),
    'if-revision': ifRevision,
    'dry-run': dryRun,
    wait,
  },
  examples: [
    'cloud secrets set my-bot-secrets --file .env',
    'cloud secrets set my-bot-secrets OPENAI_API_KEY',
    'cloud secrets set my-bot-secrets GREETING=hello TLS_KEY=@key.pem --skip --wait',
  ],
  run: async (context, values) => {
    const { setKeys } = await import('../../../secrets/set-keys.ts');
    return setKeys(context, {
      name: values.name,
      pairs: values.pairs,
      file: values.file,
      format: values.format ?? 'env',
      skip: values.skip,
      region: values.region,
      replaces: values.replace,
      ifRevision: values['if-revision'],
      isDryRun: values['dry-run'],
      wait: values.wait,
    });
  },
});
