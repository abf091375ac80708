import type { ProjectOptions } from './configuration/fields.ts';

/** The project of `botcli init quickstart`, a bot to talk to in a browser within minutes. */
export const quickstartProject = {
  name: 'botcli-quickstart',
  options: {
    project_name: 'botcli-quickstart',
    transports: ['lightrtc', 'hostedrtc'],
    mode: 'cascade',
    stt_service: 'deepgram_stt',
    llm_service: 'openai_responses_llm',
    tts_service: 'cartesia_tts',
  },
} as const satisfies { readonly name: string; readonly options: ProjectOptions };
