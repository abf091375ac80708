import { integerSettingFromVariable, requiredVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const camb: Vendor = {
  name: 'Camb',
  site: 'https://www.camb.ai',
  services: [
    {
      value: 'camb_tts',
      kind: 'tts',
      label: 'Camb',
      module: 'pipecat.services.camb.tts',
      className: 'CambTTSService',
      extras: ['camb'],
      arguments: { api_key: requiredVariable('CAMB_API_KEY') },
      settings: { voice: integerSettingFromVariable('CAMB_VOICE_ID') },
    },
  ],
};
