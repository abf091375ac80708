import type { ProjectOptions } from '../../src/scaffold/configuration/fields.ts';

/** Services with stand-in vendors. */
export const services = {
  stt_service: 'deepgram_stt',
  llm_service: 'openai_llm',
  tts_service: 'cartesia_tts',
} as const satisfies ProjectOptions;

/** A phone bot with evaluations. */
export const phoneBot = {
  project_name: 'Phone',
  transports: ['carrier1'],
  mode: 'cascade',
  ...services,
  enable_eval: true,
} as const satisfies ProjectOptions;
