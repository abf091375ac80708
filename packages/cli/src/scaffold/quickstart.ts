import type { ProjectOptions } from './configuration/fields.ts';

const name = 'botcli-quickstart';

type QuickstartProject = { readonly name: string; readonly options: ProjectOptions };

/** The project of `botcli init quickstart`, a bot to talk to in a browser within minutes. */
export const quickstartProject = {
  name,
  options: {
    project_name: name,
    transports: ['lightrtc', 'hostedrtc'],
    mode: 'cascade',
    stt_service: 'deepgram_stt',
    llm_service: 'openai_responses_llm',
    tts_service: 'cartesia_tts',
  },
} as const satisfies QuickstartProject;

/** The project of `botcli init quickstart --local`, whose models run on the user's machine. */
export const localQuickstartProject = {
  name,
  options: {
    project_name: name,
    transports: ['lightrtc'],
    mode: 'cascade',
    stt_service: 'moonshine_stt',
    llm_service: 'ollama_llm',
    tts_service: 'kokoro_tts',
    // On the service, each instance would download the models again.
    deploy_to_cloud: false,
  },
} as const satisfies QuickstartProject;

/** What `uv sync` downloads for the local quickstart, in units of 10^6 bytes: the wheels of 120 packages for Linux and Python 3.12. */
export const localQuickstartPackagesMegabytes = 300;
