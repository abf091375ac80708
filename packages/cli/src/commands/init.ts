import { command as define } from '../command-line/command.ts';
import { type CompletionWords, flag, onOff, repeated, text } from '../command-line/options.ts';
import type { CatalogueKind } from '../scaffold/configuration/names.ts';

const stated = (description: string, placeholder: string, words?: CompletionWords, short?: string) =>
  text({ description, placeholder, ...(words && { words }), ...(short && { short }) });

/** Names of the catalogue, loaded on demand. */
const named = (kind: CatalogueKind) => async () => (await import('../scaffold/configuration/names.ts')).namesOf(kind);
const directions = ['dial-in', 'dial-out'];

export const command = define({
  summary: 'Generate a bot project',
  details:
    'With --config or any option that describes the project, nothing is prompted for: the project is generated, ' +
    'or all problems are reported. Otherwise the command asks on the terminal whether to work with a coding ' +
    'agent or to choose the parts of the bot now.\n' +
    '"quickstart" generates a small bot for the browser in ./botcli-quickstart; use ./quickstart for a ' +
    'directory with that name.\n' +
    'Existing files are not overwritten without --force.',
  isLocal: true,
  arguments: {
    'target-dir': {
      description: 'Directory of the project (. is this one), or quickstart',
      optional: true,
      words: ['quickstart'],
    },
  },
  options: {
    name: stated('Name of the project (default: name of the directory)', 'NAME', undefined, 'n'),
    'bot-type': stated('web or telephony (default: depends on the transport)', 'TYPE', ['web', 'telephony'], 'b'),
    transport: repeated(
      stated('Transport of the bot; can be given more than once', 'TRANSPORT', named('transport'), 't'),
    ),
    mode: stated('cascade (three services) or realtime (one)', 'MODE', ['cascade', 'realtime'], 'm'),
    stt: stated('Speech-to-text service, VENDOR_stt', 'SERVICE', named('stt')),
    llm: stated('Language model service, VENDOR_llm', 'SERVICE', named('llm')),
    tts: stated('Text-to-speech service, VENDOR_tts', 'SERVICE', named('tts')),
    realtime: stated('Speech-to-speech service, VENDOR_realtime', 'SERVICE', named('realtime')),
    video: stated('Video avatar service, VENDOR_video; web bots only', 'SERVICE', named('video')),
    'client-framework': stated('react, vanilla or none; web bots only', 'FRAMEWORK', ['react', 'vanilla', 'none']),
    'client-server': stated('vite or nextjs, with react (default: vite)', 'SERVER', ['vite', 'nextjs']),
    'daily-pstn-mode': stated('dial-in or dial-out, with hostedrtc_pstn', 'MODE', directions),
    'twilio-daily-sip-mode': stated('dial-in or dial-out, with carrier1_hostedrtc_sip', 'MODE', directions),
    recording: onOff('Record the conversation'),
    transcription: onOff('Log the transcript'),
    'video-input': onOff('Video from the user to the bot; web bots only'),
    'video-output': onOff('Video from the bot to the user; web bots only'),
    'deploy-to-cloud': onOff('Generate files for a deployment (default: on)'),
    'enable-nc': onOff('Noise filter for incoming audio; needs the deployment'),
    observability: onOff('Pipeline debugger'),
    eval: onOff('Generate scenarios that evaluate the bot'),
    config: stated('JSON file with the configuration; options override it', 'FILE', undefined, 'c'),
    'dry-run': flag('Print the resolved configuration as JSON, then exit'),
    'list-options': flag('Print all available values as JSON'),
    'overwrite-guide': flag('Replace existing guides'),
    force: flag('Overwrite existing files that differ'),
    git: flag('Create a git repository with a first commit, unless the directory is in one'),
    install: flag('Install the dependencies of the bot (with uv or pip) and of the client'),
  },
  examples: [
    'init quickstart',
    'init --list-options',
    'init my-bot -t lightrtc -m cascade --stt deepgram_stt --llm openai_llm --tts cartesia_tts',
    'init phone-bot -t carrier1 -m realtime --realtime openai_realtime --eval',
    'init my-bot --config answers.json --dry-run',
  ],
  run: async (context, values) => {
    const { init } = await import('../scaffold/init.ts');
    return init(context, values);
  },
});
