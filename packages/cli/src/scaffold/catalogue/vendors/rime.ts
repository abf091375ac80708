import { requiredVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const rime: Vendor = {
  name: 'Rime',
  site: 'https://rime.ai',
  services: [
    {
      value: 'rime_tts',
      kind: 'tts',
      label: 'Rime',
      module: 'pipecat.services.rime.tts',
      className: 'RimeTTSService',
      extras: ['rime'],
      arguments: { api_key: requiredVariable('RIME_API_KEY') },
      settings: { voice: requiredVariable('RIME_VOICE_ID') },
    },
  ],
};
