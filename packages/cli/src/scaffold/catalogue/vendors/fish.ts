import { requiredVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const fish: Vendor = {
  name: 'Fish Audio',
  site: 'https://fish.audio',
  services: [
    {
      value: 'fish_tts',
      kind: 'tts',
      label: 'Fish Audio',
      module: 'pipecat.services.fish.tts',
      className: 'FishAudioTTSService',
      extras: ['fish'],
      arguments: { api_key: requiredVariable('FISH_API_KEY') },
      settings: { voice: requiredVariable('FISH_VOICE_ID') },
    },
  ],
};
