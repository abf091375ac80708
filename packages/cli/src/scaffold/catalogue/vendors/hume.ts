import { requiredVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const hume: Vendor = {
  name: 'Hume',
  site: 'https://www.hume.ai',
  services: [
    {
      value: 'hume_tts',
      kind: 'tts',
      label: 'Hume',
      module: 'pipecat.services.hume.tts',
      className: 'HumeTTSService',
      extras: ['hume'],
      arguments: { api_key: requiredVariable('HUME_API_KEY') },
      settings: { voice: requiredVariable('HUME_VOICE_ID') },
    },
  ],
};
