import { requiredVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const xtts: Vendor = {
  name: 'XTTS',
  site: 'https://github.com/coqui-ai/TTS',
  services: [
    {
      value: 'xtts_tts',
      kind: 'tts',
      label: 'XTTS (Coqui)',
      module: 'pipecat.services.xtts.tts',
      className: 'XTTSService',
      extras: [],
      arguments: { base_url: requiredVariable('XTTS_BASE_URL') },
      settings: { voice: requiredVariable('XTTS_VOICE_ID') },
      session: 'aiohttp_session',
      discouraged: 'pipecat-ai removes it in 2.0, and you have to run its server yourself',
    },
  ],
};
