import {
  optionalVariable,
  requiredVariable,
  settingFromVariable,
  variableWithDefault,
} from '../../python/environment.ts';
import { createService, createVendor } from '../vendor-service.ts';

export const google = createVendor('Google', 'https://cloud.google.com', [
  createService('gemini_stt', 'Gemini Transcribe Live', 'GeminiSTTService', {
    module: 'pipecat.services.google.gemini_live.stt',
    extras: ['google'],
    arguments: { api_key: requiredVariable('GOOGLE_API_KEY') },
  }),
  createService('google_stt', 'Google Speech-to-Text', 'GoogleSTTService', {
    arguments: {
      credentials_path: optionalVariable('GOOGLE_APPLICATION_CREDENTIALS'),
      location: variableWithDefault('GOOGLE_LOCATION', 'global'),
    },
  }),
  createService('google_gemini_llm', 'Google Gemini', 'GoogleLLMService', {
    module: 'pipecat.services.google.llm',
    arguments: { api_key: requiredVariable('GOOGLE_API_KEY') },
    settings: { model: settingFromVariable('GOOGLE_MODEL') },
  }),
  createService('google_vertex_llm', 'Google Vertex AI', 'GoogleVertexLLMService', {
    arguments: {
      credentials_path: optionalVariable('GOOGLE_APPLICATION_CREDENTIALS'),
      project_id: requiredVariable('GOOGLE_PROJECT_ID'),
      location: variableWithDefault('GOOGLE_LOCATION', 'global'),
    },
    settings: { model: settingFromVariable('GOOGLE_MODEL') },
  }),
  createService('gemini_tts', 'Gemini TTS', 'GeminiTTSService', {
    module: 'pipecat.services.google.tts',
    extras: ['google'],
    arguments: { credentials_path: optionalVariable('GOOGLE_APPLICATION_CREDENTIALS') },
    settings: { voice: settingFromVariable('GOOGLE_VOICE_ID') },
  }),
  createService('google_tts', 'Google Text-to-Speech', 'GoogleTTSService', {
    arguments: { credentials_path: optionalVariable('GOOGLE_APPLICATION_CREDENTIALS') },
    settings: { voice: settingFromVariable('GOOGLE_VOICE_ID') },
  }),
  createService('gemini_live_realtime', 'Gemini Live', 'GeminiLiveLLMService', {
    module: 'pipecat.services.google.gemini_live.llm',
    extras: ['google'],
    arguments: { api_key: requiredVariable('GOOGLE_API_KEY') },
    settings: { model: settingFromVariable('GOOGLE_MODEL'), voice: settingFromVariable('GOOGLE_VOICE_ID') },
    acceptsVideo: true,
  }),
  createService('gemini_vertex_live_realtime', 'Gemini Vertex Live', 'GeminiLiveVertexLLMService', {
    module: 'pipecat.services.google.gemini_live.vertex.llm',
    extras: ['google'],
    arguments: {
      credentials_path: optionalVariable('GOOGLE_APPLICATION_CREDENTIALS'),
      project_id: requiredVariable('GOOGLE_PROJECT_ID'),
      location: requiredVariable('GOOGLE_LOCATION'),
    },
    settings: { model: settingFromVariable('GOOGLE_MODEL'), voice: settingFromVariable('GOOGLE_VOICE_ID') },
    acceptsVideo: true,
  }),
]);
