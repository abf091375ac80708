import { requiredVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const neuphonic: Vendor = {
  name: 'Neuphonic',
  site: 'https://www.neuphonic.com',
  services: [
    {
      value: 'neuphonic_tts',
      kind: 'tts',
      label: 'Neuphonic',
      module: 'pipecat.services.neuphonic.tts',
      className: 'NeuphonicTTSService',
      extras: ['neuphonic'],
      arguments: { api_key: requiredVariable('NEUPHONIC_API_KEY') },
      settings: { voice: requiredVariable('NEUPHONIC_VOICE_ID') },
    },
  ],
};
