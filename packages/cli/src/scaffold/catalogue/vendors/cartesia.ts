import { requiredVariable, variableWithDefault } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const cartesia: Vendor = {
  name: 'Cartesia',
  site: 'https://cartesia.ai',
  services: [
    {
      value: 'cartesia_stt',
      kind: 'stt',
      label: 'Cartesia',
      module: 'pipecat.services.cartesia.stt',
      className: 'CartesiaSTTService',
      extras: ['cartesia'],
      arguments: { api_key: requiredVariable('CARTESIA_API_KEY') },
      settings: null,
    },
    {
      value: 'cartesia_turns_stt',
      kind: 'stt',
      label: 'Cartesia Turns',
      module: 'pipecat.services.cartesia.turns.stt',
      className: 'CartesiaTurnsSTTService',
      extras: ['cartesia'],
      arguments: { api_key: requiredVariable('CARTESIA_API_KEY') },
      settings: null,
    },
    {
      value: 'cartesia_tts',
      kind: 'tts',
      label: 'Cartesia',
      module: 'pipecat.services.cartesia.tts',
      className: 'CartesiaTTSService',
      extras: ['cartesia'],
      arguments: { api_key: requiredVariable('CARTESIA_API_KEY') },
      settings: { voice: variableWithDefault('CARTESIA_VOICE_ID', '86e30c1d-714b-4074-a1f2-1cb6b552fb49') },
    },
  ],
};
