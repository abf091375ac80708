import { requiredVariable } from '../../python/environment.ts';
import { createService, createVendor } from '../vendor-service.ts';

export const elevenlabs = createVendor('ElevenLabs', 'https://elevenlabs.io', [
  createService('elevenlabs_stt', 'ElevenLabs', 'ElevenLabsSTTService', {
    arguments: { api_key: requiredVariable('ELEVENLABS_API_KEY') },
    session: 'aiohttp_session',
  }),
  createService('elevenlabs_realtime_stt', 'ElevenLabs Realtime', 'ElevenLabsRealtimeSTTService', {
    module: 'pipecat.services.elevenlabs.stt',
    arguments: { api_key: requiredVariable('ELEVENLABS_API_KEY') },
  }),
  createService('elevenlabs_tts', 'ElevenLabs', 'ElevenLabsTTSService', {
    arguments: { api_key: requiredVariable('ELEVENLABS_API_KEY') },
    settings: { voice: requiredVariable('ELEVENLABS_VOICE_ID') },
  }),
  createService('elevenlabs_dialogue_tts', 'ElevenLabs Dialogue', 'ElevenLabsDialogueTTSService', {
    arguments: { api_key: requiredVariable('ELEVENLABS_API_KEY') },
    settings: { voice: requiredVariable('ELEVENLABS_VOICE_ID') },
  }),
]);
