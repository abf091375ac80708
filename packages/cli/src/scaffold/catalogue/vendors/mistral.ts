import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const mistral: Vendor = {
  name: 'Mistral',
  site: 'https://mistral.ai',
  services: [
    {
      value: 'mistral_stt',
      kind: 'stt',
      label: 'Mistral',
      module: 'pipecat.services.mistral.stt',
      className: 'MistralSTTService',
      extras: ['mistral'],
      arguments: { api_key: requiredVariable('MISTRAL_API_KEY') },
      settings: null,
    },
    {
      value: 'mistral_llm',
      kind: 'llm',
      label: 'Mistral',
      module: 'pipecat.services.mistral.llm',
      className: 'MistralLLMService',
      extras: ['mistral'],
      arguments: { api_key: requiredVariable('MISTRAL_API_KEY') },
      settings: { model: settingFromVariable('MISTRAL_MODEL') },
    },
    {
      value: 'mistral_tts',
      kind: 'tts',
      label: 'Mistral',
      module: 'pipecat.services.mistral.tts',
      className: 'MistralTTSService',
      extras: ['mistral'],
      arguments: { api_key: requiredVariable('MISTRAL_API_KEY') },
      settings: { voice: requiredVariable('MISTRAL_VOICE_ID') },
    },
  ],
};
