import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

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
      arguments: { api_key: requiredVariable('INWORLD_API_KEY') },
      settings: { voice: settingFromVariable('INWORLD_VOICE_ID') },
    },
  ],
};
