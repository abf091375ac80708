import type { ProjectOptions } from '../../src/scaffold/configuration/fields.ts';

/** The services of a phone bot. For each one, the tests have a local server that stands in for the vendor. */
export const phoneBotServices = {
  stt_service: 'deepgram_stt',
  llm_service: 'openai_llm',
  tts_service: 'cartesia_tts',
} as const satisfies ProjectOptions;

export const phoneBotOptions = {
  project_name: 'Phone',
  transports: ['carrier1'],
  mode: 'cascade',
  ...phoneBotServices,
  enable_eval: true,
} as const satisfies ProjectOptions;
