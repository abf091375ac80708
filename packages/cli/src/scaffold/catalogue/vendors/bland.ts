import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const bland: Vendor = {
  name: 'Bland',
  site: 'https://www.bland.ai',
  services: [
    {
      value: 'bland_tts',
      kind: 'tts',
      label: 'Bland',
      module: 'pipecat.services.bland.tts',
      className: 'BlandTTSService',
      extras: ['bland'],
      arguments: { api_key: requiredVariable('BLAND_API_KEY') },
      settings: { voice: settingFromVariable('BLAND_VOICE_ID') },
    },
  ],
};
