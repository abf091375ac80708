import { requiredVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const asyncai: Vendor = {
  name: 'Async',
  site: 'https://async.com',
  services: [
    {
      value: 'asyncai_tts',
      kind: 'tts',
      label: 'Async',
      module: 'pipecat.services.asyncai.tts',
      className: 'AsyncAITTSService',
      extras: ['asyncai'],
      arguments: { api_key: requiredVariable('ASYNCAI_API_KEY') },
      settings: { voice: requiredVariable('ASYNCAI_VOICE_ID') },
    },
  ],
};
