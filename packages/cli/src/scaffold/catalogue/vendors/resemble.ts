import { required } from '../../python/environment.ts';
import type { Vendor } from '../service.ts';

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
      arguments: { api_key: required('RESEMBLE_API_KEY') },
      settings: { voice: required('RESEMBLE_VOICE_ID') },
    },
  ],
};
