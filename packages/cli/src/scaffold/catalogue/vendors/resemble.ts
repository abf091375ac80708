import { requiredVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const resemble: Vendor = {
  name: 'Resemble',
  site: 'https://www.resemble.ai',
  services: [
    {
      value: 'resemble_tts',
      kind: 'tts',
      label: 'Resemble',
      module: 'pipecat.services.resembleai.tts',
      className: 'ResembleAITTSService',
      extras: ['resembleai'],
      arguments: { api_key: requiredVariable('RESEMBLE_API_KEY') },
      settings: { voice: requiredVariable('RESEMBLE_VOICE_ID') },
    },
  ],
};
