import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const gradium: Vendor = {
  name: 'Gradium',
  site: 'https://gradium.ai',
  services: [
    {
      value: 'gradium_stt',
      kind: 'stt',
      label: 'Gradium',
      module: 'pipecat.services.gradium.stt',
      className: 'GradiumSTTService',
      extras: ['gradium'],
      arguments: { api_key: requiredVariable('GRADIUM_API_KEY') },
      settings: null,
    },
    {
      value: 'gradium_tts',
      kind: 'tts',
      label: 'Gradium',
      module: 'pipecat.services.gradium.tts',
      className: 'GradiumTTSService',
      extras: ['gradium'],
      arguments: { api_key: requiredVariable('GRADIUM_API_KEY') },
      settings: { voice: settingFromVariable('GRADIUM_VOICE_ID') },
    },
  ],
};
