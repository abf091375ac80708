import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const groq: Vendor = {
  name: 'Groq',
  site: 'https://groq.com',
  services: [
    {
      value: 'groq_stt',
      kind: 'stt',
      label: 'Groq (Whisper)',
      module: 'pipecat.services.groq.stt',
      className: 'GroqSTTService',
      extras: ['groq'],
      arguments: { api_key: requiredVariable('GROQ_API_KEY') },
      settings: null,
    },
    {
      value: 'groq_llm',
      kind: 'llm',
      label: 'Groq',
      module: 'pipecat.services.groq.llm',
      className: 'GroqLLMService',
      extras: ['groq'],
      arguments: { api_key: requiredVariable('GROQ_API_KEY') },
      settings: { model: settingFromVariable('GROQ_MODEL') },
    },
    {
      value: 'groq_tts',
      kind: 'tts',
      label: 'Groq',
      module: 'pipecat.services.groq.tts',
      className: 'GroqTTSService',
      extras: ['groq'],
      arguments: { api_key: requiredVariable('GROQ_API_KEY') },
      settings: { voice: settingFromVariable('GROQ_VOICE_ID') },
    },
  ],
};
