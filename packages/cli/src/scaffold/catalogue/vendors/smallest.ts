import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const smallest: Vendor = {
  name: 'Smallest',
  site: 'https://smallest.ai',
  services: [
    {
      value: 'smallest_stt',
      kind: 'stt',
      label: 'Smallest',
      module: 'pipecat.services.smallest.stt',
      className: 'SmallestSTTService',
      extras: ['smallest'],
      arguments: { api_key: requiredVariable('SMALLEST_API_KEY') },
      settings: null,
    },
    {
      value: 'smallest_llm',
      kind: 'llm',
      label: 'Smallest',
      module: 'pipecat.services.smallest.llm',
      className: 'SmallestLLMService',
      extras: ['smallest'],
      arguments: { api_key: requiredVariable('SMALLEST_API_KEY') },
      settings: { model: settingFromVariable('SMALLEST_MODEL') },
      since: '1.14.0',
    },
    {
      value: 'smallest_tts',
      kind: 'tts',
      label: 'Smallest',
      module: 'pipecat.services.smallest.tts',
      className: 'SmallestTTSService',
      extras: ['smallest'],
      arguments: { api_key: requiredVariable('SMALLEST_API_KEY') },
      settings: { voice: settingFromVariable('SMALLEST_VOICE_ID') },
    },
  ],
};
