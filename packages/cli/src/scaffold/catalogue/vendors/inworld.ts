import { required, setting } from '../../python/environment.ts';
import type { Vendor } from '../service.ts';

export const inworld: Vendor = {
  name: 'Inworld',
  site: 'https://inworld.ai',
  services: [
    {
      value: 'inworld_tts',
      kind: 'tts',
      label: 'Inworld',
      module: 'pipecat.services.inworld.tts',
      className: 'InworldTTSService',
      extras: [],
      arguments: { api_key: required('INWORLD_API_KEY') },
      settings: { voice: setting('INWORLD_VOICE_ID') },
    },
  ],
};
