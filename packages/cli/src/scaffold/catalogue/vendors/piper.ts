import { requiredVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const piper: Vendor = {
  name: 'Piper',
  site: 'https://github.com/OHF-Voice/piper1-gpl',
  services: [
    {
      value: 'piper_tts',
      kind: 'tts',
      label: 'Piper (local)',
      module: 'pipecat.services.piper.tts',
      className: 'PiperTTSService',
      extras: ['piper'],
      arguments: {},
      settings: { voice: requiredVariable('PIPER_VOICE_ID') },
      downloads: true,
    },
  ],
};
