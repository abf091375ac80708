import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import { createConstructorExpression, createPythonExpression } from '../../python/expression.ts';
import type { Vendor } from '../vendor-service.ts';

const event = (name: string) => ({ module: 'pipecat.services.openai.realtime.events', name });

export const openai: Vendor = {
  name: 'OpenAI',
  site: 'https://platform.openai.com',
  services: [
    {
      value: 'openai_stt',
      kind: 'stt',
      label: 'OpenAI (Whisper)',
      module: 'pipecat.services.openai.stt',
      className: 'OpenAISTTService',
      extras: ['openai'],
      arguments: { api_key: requiredVariable('OPENAI_API_KEY') },
      settings: null,
    },
    {
      value: 'openai_realtime_stt',
      kind: 'stt',
      label: 'OpenAI Realtime',
      module: 'pipecat.services.openai.stt',
      className: 'OpenAIRealtimeSTTService',
      extras: ['openai'],
      arguments: { api_key: requiredVariable('OPENAI_API_KEY') },
      settings: null,
    },
    {
      value: 'openai_llm',
      kind: 'llm',
      label: 'OpenAI',
      module: 'pipecat.services.openai.llm',
      className: 'OpenAILLMService',
      extras: ['openai'],
      arguments: { api_key: requiredVariable('OPENAI_API_KEY') },
      settings: { model: settingFromVariable('OPENAI_MODEL') },
    },
    {
      value: 'openai_responses_llm',
      kind: 'llm',
      label: 'OpenAI Responses',
      module: 'pipecat.services.openai.responses.llm',
      className: 'OpenAIResponsesLLMService',
      extras: ['openai'],
      arguments: { api_key: requiredVariable('OPENAI_API_KEY') },
      settings: { model: settingFromVariable('OPENAI_MODEL') },
    },
    {
      value: 'openai_tts',
      kind: 'tts',
      label: 'OpenAI',
      module: 'pipecat.services.openai.tts',
      className: 'OpenAITTSService',
      extras: ['openai'],
      arguments: { api_key: requiredVariable('OPENAI_API_KEY') },
      settings: { voice: settingFromVariable('OPENAI_VOICE_ID') },
    },
    {
      value: 'openai_realtime',
      kind: 'realtime',
      label: 'OpenAI Realtime',
      module: 'pipecat.services.openai.realtime.llm',
      className: 'OpenAIRealtimeLLMService',
      extras: ['openai'],
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
    },
  ],
};
