import { requiredVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const elevenlabs: Vendor = {
  name: 'ElevenLabs',
  site: 'https://elevenlabs.io',
  services: [
    {
      value: 'elevenlabs_stt',
      kind: 'stt',
      label: 'ElevenLabs',
      module: 'pipecat.services.elevenlabs.stt',
      className: 'ElevenLabsSTTService',
      extras: ['elevenlabs'],
      arguments: { api_key: requiredVariable('ELEVENLABS_API_KEY') },
      settings: null,
      session: 'aiohttp_session',
    },
    {
      value: 'elevenlabs_realtime_stt',
      kind: 'stt',
      label: 'ElevenLabs Realtime',
      module: 'pipecat.services.elevenlabs.stt',
      className: 'ElevenLabsRealtimeSTTService',
      extras: ['elevenlabs'],
      arguments: { api_key: requiredVariable('ELEVENLABS_API_KEY') },
      settings: null,
    },
    {
      value: 'elevenlabs_tts',
      kind: 'tts',
      label: 'ElevenLabs',
      module: 'pipecat.services.elevenlabs.tts',
      className: 'ElevenLabsTTSService',
      extras: ['elevenlabs'],
      arguments: { api_key: requiredVariable('ELEVENLABS_API_KEY') },
      settings: { voice: requiredVariable('ELEVENLABS_VOICE_ID') },
    },
    {
      value: 'elevenlabs_dialogue_tts',
      kind: 'tts',
      label: 'ElevenLabs Dialogue',
      module: 'pipecat.services.elevenlabs.dialogue.tts',
      className: 'ElevenLabsDialogueTTSService',
      extras: ['elevenlabs'],
      arguments: { api_key: requiredVariable('ELEVENLABS_API_KEY') },
      settings: { voice: requiredVariable('ELEVENLABS_VOICE_ID') },
    },
  ],
};
