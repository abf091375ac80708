import { defineCommand } from '../command-line/command.ts';
import { type CompletionWords, flagOption, repeatedOption, switchOption, textOption } from '../command-line/options.ts';
import { callDirections } from '../scaffold/catalogue/transport.ts';
import { transportChoices } from '../scaffold/catalogue/transports.ts';
import {
  botTypes,
  clientFrameworks,
  clientWebServers,
  pipelineModes,
} from '../scaffold/configuration/configuration.ts';
import type { CatalogueEntryKind } from '../scaffold/configuration/names.ts';

const projectOption = (description: string, placeholder: string, words?: CompletionWords, short?: string) =>
  textOption({ description, placeholder, ...(words && { words }), ...(short && { short }) });

/**
 * Returns a function that lists the names of services or transports for shell completion. The catalogue of these names is
 * loaded only when the function is called, so that help stays fast.
 */
const namesOf = (kind: CatalogueEntryKind) => async () =>
  (await import('../scaffold/configuration/names.ts')).listCatalogueNames(kind);

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
    name: projectOption('Name of the project (default: name of the directory)', 'NAME', undefined, 'n'),
    'bot-type': projectOption('web or telephony (default: follows from the transports)', 'TYPE', botTypes, 'b'),
    transport: repeatedOption(
      projectOption(
        `How people reach the bot, by either name: ${transportChoices.join(', ')}; can be given more than once`,
        'TRANSPORT',
        namesOf('transport'),
        't',
      ),
    ),
    mode: projectOption(
      'cascade (three services) or realtime (one speech-to-speech service)',
      'MODE',
      pipelineModes,
      'm',
    ),
    stt: projectOption('Speech-to-text service, VENDOR_stt', 'SERVICE', namesOf('stt')),
    llm: projectOption('Language model service, VENDOR_llm', 'SERVICE', namesOf('llm')),
    tts: projectOption('Text-to-speech service, VENDOR_tts', 'SERVICE', namesOf('tts')),
    realtime: projectOption('Speech-to-speech service, VENDOR_realtime', 'SERVICE', namesOf('realtime')),
    video: projectOption('Video avatar service, VENDOR_video; web bots only', 'SERVICE', namesOf('video')),
    'client-framework': projectOption('react, vanilla or none; web bots only', 'FRAMEWORK', [
      ...clientFrameworks,
      'none',
    ]),
    'client-server': projectOption('vite or nextjs, with react (default: vite)', 'SERVER', clientWebServers),
    'daily-pstn-mode': projectOption('dial-in or dial-out, for daily_pstn (hostedrtc_pstn)', 'MODE', callDirections),
    'twilio-daily-sip-mode': projectOption(
      'dial-in or dial-out, for twilio_daily_sip (carrier1_hostedrtc_sip)',
      'MODE',
      callDirections,
    ),
    recording: switchOption('Record the audio of each session'),
    transcription: switchOption('Log transcripts'),
    'video-input': switchOption('Send camera video to the bot; web bots only'),
    'video-output': switchOption('Send video from the bot; web bots only'),
    'deploy-to-cloud': switchOption('Generate the files for a deployment (default: on)'),
    'enable-nc': switchOption('Noise cancellation; needs --deploy-to-cloud'),
    observability: switchOption('Add a pipeline debugger'),
    eval: switchOption('Add scenarios that evaluate the bot'),
    config: projectOption(
      'JSON file with these options; options on the command line override it',
      'FILE',
      undefined,
      'c',
    ),
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
