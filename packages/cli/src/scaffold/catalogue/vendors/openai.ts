import { required, setting } from '../../python/environment.ts';
import { construct, python } from '../../python/expression.ts';
import type { Vendor } from '../service.ts';

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
      arguments: { api_key: required('OPENAI_API_KEY') },
      settings: null,
    },
    {
      value: 'openai_realtime_stt',
      kind: 'stt',
      label: 'OpenAI Realtime',
      module: 'pipecat.services.openai.stt',
      className: 'OpenAIRealtimeSTTService',
      extras: ['openai'],
      arguments: { api_key: required('OPENAI_API_KEY') },
      settings: null,
    },
    {
      value: 'openai_llm',
      kind: 'llm',
      label: 'OpenAI',
      module: 'pipecat.services.openai.llm',
      className: 'OpenAILLMService',
      extras: ['openai'],
      arguments: { api_key: required('OPENAI_API_KEY') },
      settings: { model: setting('OPENAI_MODEL') },
    },
    {
      value: 'openai_responses_llm',
      kind: 'llm',
      label: 'OpenAI Responses',
      module: 'pipecat.services.openai.responses.llm',
      className: 'OpenAIResponsesLLMService',
      extras: ['openai'],
      arguments: { api_key: required('OPENAI_API_KEY') },
      settings: { model: setting('OPENAI_MODEL') },
    },
    {
      value: 'openai_tts',
      kind: 'tts',
      label: 'OpenAI',
      module: 'pipecat.services.openai.tts',
      className: 'OpenAITTSService',
      extras: ['openai'],
      arguments: { api_key: required('OPENAI_API_KEY') },
      settings: { voice: setting('OPENAI_VOICE_ID') },
    },
    {
      value: 'openai_realtime',
      kind: 'realtime',
      label: 'OpenAI Realtime',
      module: 'pipecat.services.openai.realtime.llm',
      className: 'OpenAIRealtimeLLMService',
      extras: ['openai'],
      arguments: { api_key: required('OPENAI_API_KEY') },
      settings: {
        session_properties: construct(event('SessionProperties'), {
          audio: construct(event('AudioConfiguration'), {
            input: construct(event('AudioInput'), {
              transcription: construct(event('InputAudioTranscription'), {}),
              turn_detection: construct(event('SemanticTurnDetection'), {}),
              noise_reduction: construct(event('InputAudioNoiseReduction'), { type: python('"near_field"') }),
            }),
          }),
        }),
      },
      acceptsVideo: true,
    },
  ],
};
