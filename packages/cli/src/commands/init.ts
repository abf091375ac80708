import { command as define } from '../command-line/command.ts';
import { type CompletionWords, flag, onOff, repeated, text } from '../command-line/options.ts';
import { transportChoices } from '../scaffold/catalogue/transports.ts';
import type { CatalogueKind } from '../scaffold/configuration/names.ts';

const textOption = (description: string, placeholder: string, words?: CompletionWords, short?: string) =>
  text({ description, placeholder, ...(words && { words }), ...(short && { short }) });

/** Names of the catalogue, for completion. They are loaded only when needed, so that help stays fast. */
const namesOf = (kind: CatalogueKind) => async () => (await import('../scaffold/configuration/names.ts')).namesOf(kind);
const directions = ['dial-in', 'dial-out'];

export const command = define({
  summary: 'Create a bot project that runs',
  details:
    'In a terminal, botcli asks for everything. With --config, or any option that describes the project, it asks ' +
    'nothing and reports all problems at once. "quickstart" creates a bot for the browser in ./botcli-quickstart; ' +
    'for a directory with that name, write ./quickstart. Existing files are overwritten only with --force.',
  isLocal: true,
  arguments: {
    'target-dir': {
      description: 'Directory of the project (. for the current one), or quickstart',
      optional: true,
      words: ['quickstart'],
    },
  },
  options: {
    name: textOption('Name of the project (default: name of the directory)', 'NAME', undefined, 'n'),
    'bot-type': textOption(
      'web or telephony (default: follows from the transports)',
      'TYPE',
      ['web', 'telephony'],
      'b',
    ),
    transport: repeated(
      textOption(
        `How people reach the bot, by either name: ${transportChoices.join(', ')}; can be given more than once`,
        'TRANSPORT',
        namesOf('transport'),
        't',
      ),
    ),
    mode: textOption(
      'cascade (three services) or realtime (one speech-to-speech service)',
      'MODE',
      ['cascade', 'realtime'],
      'm',
    ),
    stt: textOption('Speech-to-text service, VENDOR_stt', 'SERVICE', namesOf('stt')),
    llm: textOption('Language model service, VENDOR_llm', 'SERVICE', namesOf('llm')),
    tts: textOption('Text-to-speech service, VENDOR_tts', 'SERVICE', namesOf('tts')),
    realtime: textOption('Speech-to-speech service, VENDOR_realtime', 'SERVICE', namesOf('realtime')),
    video: textOption('Video avatar service, VENDOR_video; web bots only', 'SERVICE', namesOf('video')),
    'client-framework': textOption('react, vanilla or none; web bots only', 'FRAMEWORK', ['react', 'vanilla', 'none']),
    'client-server': textOption('vite or nextjs, with react (default: vite)', 'SERVER', ['vite', 'nextjs']),
    'daily-pstn-mode': textOption('dial-in or dial-out, for daily_pstn (hostedrtc_pstn)', 'MODE', directions),
    'twilio-daily-sip-mode': textOption(
      'dial-in or dial-out, for twilio_daily_sip (carrier1_hostedrtc_sip)',
      'MODE',
      directions,
    ),
    recording: onOff('Record the audio of each session'),
    transcription: onOff('Log transcripts'),
    'video-input': onOff('Send camera video to the bot; web bots only'),
    'video-output': onOff('Send video from the bot; web bots only'),
    'deploy-to-cloud': onOff('Generate the files for a deployment (default: on)'),
    'enable-nc': onOff('Noise cancellation; needs --deploy-to-cloud'),
    observability: onOff('Add a pipeline debugger'),
    eval: onOff('Add scenarios that evaluate the bot'),
    config: textOption('JSON file with these options; options on the command line override it', 'FILE', undefined, 'c'),
    'dry-run': flag('Print the resolved configuration as JSON and write nothing'),
    'list-options': flag('Print all values as JSON'),
    'overwrite-guide': flag('Overwrite existing guides (AGENTS.md, ASSISTANT.md, GETTING_STARTED.md)'),
    force: flag('Overwrite files that exist and differ'),
    git: flag('Create a git repository with a first commit, unless the directory is in one'),
    install: flag('Install the packages of the bot (with uv or pip) and of the client'),
  },
  examples: [
    'init quickstart',
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
