import { defineCommand } from '../command-line/command.ts';
import { flagOption, type Option, repeatedOption, switchOption, textOption } from '../command-line/options.ts';
import { type CatalogueEntryKind, type ProjectField, projectFields } from '../scaffold/configuration/fields.ts';

/**
 * Returns a function that lists the names of services or transports for shell completion. The catalogue of these names is
 * loaded only when the function is called, so that help stays fast.
 */
const namesOf = (kind: CatalogueEntryKind) => async () =>
  (await import('../scaffold/configuration/names.ts')).listCatalogueNames(kind);

function createOption(field: ProjectField): Option {
  if (field.type === 'switch') return switchOption(field.description);
  const { type, description, placeholder, short, words } = field;
  const option = textOption({
    description,
    placeholder,
    ...(short && { short }),
    ...(words && { words: typeof words === 'string' ? namesOf(words) : words }),
  });
  return type === 'texts' ? repeatedOption(option) : option;
}

export const command = defineCommand({
  summary: 'Create a bot project that runs',
  details:
    'In a terminal, botcli asks for everything. With --config, or any option that describes the project, it asks ' +
    'nothing and reports all problems at once. "quickstart" creates a bot for the browser in ./botcli-quickstart; ' +
    'with --local, its models run on your machine, and it needs no keys. For a directory with that name, write ' +
    './quickstart. Existing files are overwritten only with --force.',
  isLocal: true,
  arguments: {
    'target-dir': {
      description: 'Directory of the project (. for the current one), or quickstart',
      optional: true,
      words: ['quickstart'],
    },
  },
  options: {
    ...Object.fromEntries(
      Object.values<ProjectField>(projectFields).map((field) => [field.option, createOption(field)]),
    ),
    config: textOption({
      description: 'JSON file with these options; options on the command line override it',
      placeholder: 'FILE',
      short: 'c',
    }),
    'dry-run': flagOption('Print the resolved configuration as JSON and write nothing'),
    'list-options': flagOption('Print all values as JSON'),
    'overwrite-guide': flagOption('Overwrite existing guides (AGENTS.md, ASSISTANT.md, GETTING_STARTED.md)'),
    local: flagOption('With quickstart: local models, which need no keys. Shows what they download before it asks'),
    yes: flagOption('Do not ask for confirmation of --local', 'y'),
    force: flagOption('Overwrite files that exist and differ'),
    git: flagOption('Create a git repository with a first commit, unless the directory is in one'),
    install: flagOption('Install the packages of the bot (with uv or pip) and of the client'),
  },
  examples: [
    'init quickstart',
    'init quickstart --local',
    'init --list-options',
    'init my-bot -t smallwebrtc -m cascade --stt deepgram_stt --llm openai_llm --tts cartesia_tts',
    'init phone-bot -t twilio -m realtime --realtime openai_realtime --eval',
    'init my-bot --config options.json --dry-run',
  ],
  run: async (context, values) => {
    const { init } = await import('../scaffold/init.ts');
    return init(context, values);
  },
});
