import { requiredVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const kokoro: Vendor = {
  name: 'Kokoro',
  site: 'https://github.com/hexgrad/kokoro',
  services: [
    {
      value: 'kokoro_tts',
      kind: 'tts',
      label: 'Kokoro (local)',
      module: 'pipecat.services.kokoro.tts',
      className: 'KokoroTTSService',
      extras: ['kokoro'],
      arguments: {},
      settings: { voice: requiredVariable('KOKORO_VOICE_ID') },
      downloads: true,
    },
  ],
};
