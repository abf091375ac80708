import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const sarvam: Vendor = {
  name: 'Sarvam',
  site: 'https://www.sarvam.ai',
  services: [
    {
      value: 'sarvam_stt',
      kind: 'stt',
      label: 'Sarvam',
      module: 'pipecat.services.sarvam.stt',
      className: 'SarvamSTTService',
      extras: ['sarvam'],
      arguments: { api_key: requiredVariable('SARVAM_API_KEY') },
      settings: { model: settingFromVariable('SARVAM_STT_MODEL') },
    },
    {
      value: 'sarvam_llm',
      kind: 'llm',
      label: 'Sarvam',
      module: 'pipecat.services.sarvam.llm',
      className: 'SarvamLLMService',
      extras: ['sarvam'],
      arguments: { api_key: requiredVariable('SARVAM_API_KEY') },
      settings: { model: settingFromVariable('SARVAM_MODEL') },
    },
    {
      value: 'sarvam_tts',
      kind: 'tts',
      label: 'Sarvam',
      module: 'pipecat.services.sarvam.tts',
      className: 'SarvamTTSService',
      extras: [],
      arguments: { api_key: requiredVariable('SARVAM_API_KEY') },
      settings: { model: settingFromVariable('SARVAM_TTS_MODEL'), voice: settingFromVariable('SARVAM_VOICE_ID') },
    },
  ],
};
