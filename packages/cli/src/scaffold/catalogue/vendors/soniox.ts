import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const soniox: Vendor = {
  name: 'Soniox',
  site: 'https://soniox.com',
  services: [
    {
      value: 'soniox_stt',
      kind: 'stt',
      label: 'Soniox',
      module: 'pipecat.services.soniox.stt',
      className: 'SonioxSTTService',
      extras: ['soniox'],
      arguments: { api_key: requiredVariable('SONIOX_API_KEY') },
      settings: null,
    },
    {
      value: 'soniox_tts',
      kind: 'tts',
      label: 'Soniox',
      module: 'pipecat.services.soniox.tts',
      className: 'SonioxTTSService',
      extras: ['soniox'],
      arguments: { api_key: requiredVariable('SONIOX_API_KEY') },
      settings: { voice: settingFromVariable('SONIOX_VOICE_ID') },
    },
  ],
};
