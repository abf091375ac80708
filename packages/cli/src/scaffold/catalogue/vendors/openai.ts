import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import { createConstructorExpression, createPythonExpression } from '../../python/expression.ts';
import { createService, createVendor } from '../vendor-service.ts';

const event = (name: string) => ({ module: 'pipecat.services.openai.realtime.events', name });

export const openai = createVendor('OpenAI', 'https://platform.openai.com', [
  createService('openai_stt', 'OpenAI (Whisper)', 'OpenAISTTService', {
    arguments: { api_key: requiredVariable('OPENAI_API_KEY') },
  }),
  createService('openai_realtime_stt', 'OpenAI Realtime', 'OpenAIRealtimeSTTService', {
    module: 'pipecat.services.openai.stt',
    arguments: { api_key: requiredVariable('OPENAI_API_KEY') },
  }),
  createService('openai_llm', 'OpenAI', 'OpenAILLMService', {
    arguments: { api_key: requiredVariable('OPENAI_API_KEY') },
    settings: { model: settingFromVariable('OPENAI_MODEL') },
  }),
  createService('openai_responses_llm', 'OpenAI Responses', 'OpenAIResponsesLLMService', {
    arguments: { api_key: requiredVariable('OPENAI_API_KEY') },
    settings: { model: settingFromVariable('OPENAI_MODEL') },
  }),
  createService('openai_tts', 'OpenAI', 'OpenAITTSService', {
    arguments: { api_key: requiredVariable('OPENAI_API_KEY') },
    settings: { voice: settingFromVariable('OPENAI_VOICE_ID') },
  }),
  createService('openai_realtime', 'OpenAI Realtime', 'OpenAIRealtimeLLMService', {
    module: 'pipecat.services.openai.realtime.llm',
    arguments: { api_key: requiredVariable('OPENAI_API_KEY') },
    settings: {
      session_properties: createConstructorExpression(event('SessionProperties'), {
        audio: createConstructorExpression(event('AudioConfiguration'), {
          input: createConstructorExpression(event('AudioInput'), {
            transcription: createConstructorExpression(event('InputAudioTranscription'), {}),
            turn_detection: createConstructorExpression(event('SemanticTurnDetection'), {}),
            noise_reduction: createConstructorExpression(event('InputAudioNoiseReduction'), {
              type: createPythonExpression('"near_field"'),
            }),
          }),
        }),
      }),
    },
    acceptsVideo: true,
  }),
]);
