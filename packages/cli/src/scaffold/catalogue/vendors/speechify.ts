import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const speechify: Vendor = {
  name: 'Speechify',
  site: 'https://speechify.com',
  services: [
    {
      value: 'speechify_tts',
      kind: 'tts',
      label: 'Speechify',
      module: 'pipecat.services.speechify.tts',
      className: 'SpeechifyHttpTTSService',
      extras: [],
      arguments: { api_key: requiredVariable('SPEECHIFY_API_KEY') },
      settings: { voice: settingFromVariable('SPEECHIFY_VOICE_ID') },
      session: 'aiohttp_session',
    },
  ],
};
