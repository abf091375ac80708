import { command as define } from '../command-line/command.ts';
import { type CompletionWords, flag, onOff, repeated, text } from '../command-line/options.ts';
import type { CatalogueKind } from '../scaffold/configuration/names.ts';

const stated = (description: string, placeholder: string, words?: CompletionWords, short?: string) =>
  text({ description, placeholder, ...(words && { words }), ...(short && { short }) });

/** Names of the catalogue, read when somebody asks for them. */
const named = (kind: CatalogueKind) => async () => (await import('../scaffold/configuration/names.ts')).namesOf(kind);
const directions = ['dial-in', 'dial-out'];

export const command = define({
  summary: 'Make a runnable bot project',
  details:
    'With any option that describes the project, or --config, nothing is asked: the project is made in the ' +
    'directory, and all problems are reported at once. Without one, botcli asks on the terminal whether to build ' +
    'with a coding agent or to choose now. "quickstart" makes a small bot to talk to in a browser, in ' +
    './botcli-quickstart; write ./quickstart for a directory with that name. Your own files are never overwritten ' +
    'without --force.',
  isLocal: true,
  arguments: {
    'target-dir': {
      description: 'Directory of the project, . for this one; or quickstart',
      optional: true,
      words: ['quickstart'],
    },
  },
  options: {
    name: stated('Name of the project (default: the directory’s)', 'NAME', undefined, 'n'),
    'bot-type': stated('web or telephony (default: by transport)', 'TYPE', ['web', 'telephony'], 'b'),
    transport: repeated(
      stated('How people reach the bot; can be given more than once', 'TRANSPORT', named('transport'), 't'),
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
    recording: onOff('Record what is said'),
    transcription: onOff('Log what is said'),
    'video-input': onOff('Let the bot see the camera; web bots only'),
    'video-output': onOff('Let the bot show pictures; web bots only'),
    'deploy-to-cloud': onOff('Files for a deployment (default: on)'),
    'enable-nc': onOff('Filter noise from the incoming audio; needs the deployment'),
    observability: onOff('Let a debugger inspect the pipeline'),
    eval: onOff('Scenarios that evaluate the bot'),
    config: stated('JSON file with the answers; options win over it', 'FILE', undefined, 'c'),
    'dry-run': flag('Print the resolved configuration as JSON, write nothing'),
    'list-options': flag('Print all available values, as JSON'),
    'overwrite-guide': flag('Replace existing guides'),
    force: flag('Overwrite files that exist and differ'),
    git: flag('Make a git repository with a first commit, unless the directory is in one'),
    install: flag('Install the dependencies of the bot (uv, else pip) and of the client'),
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
