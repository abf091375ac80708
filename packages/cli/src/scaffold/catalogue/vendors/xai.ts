import { requiredVariable, settingFromVariable, variableWithDefault } from '../../python/environment.ts';
import { createConstructorExpression } from '../../python/expression.ts';
import type { Vendor } from '../vendor-service.ts';

const session = { module: 'pipecat.services.xai.realtime.events', name: 'SessionProperties' };

export const xai: Vendor = {
  name: 'xAI',
  site: 'https://x.ai',
  services: [
    {
      value: 'xai_stt',
      kind: 'stt',
      label: 'xAI',
      module: 'pipecat.services.xai.stt',
      className: 'XAISTTService',
      extras: ['xai'],
      arguments: { api_key: requiredVariable('XAI_API_KEY') },
      settings: null,
    },
    {
      value: 'xai_llm',
      kind: 'llm',
      label: 'xAI Grok',
      module: 'pipecat.services.xai.llm',
      className: 'GrokLLMService',
      extras: ['xai'],
      arguments: { api_key: requiredVariable('XAI_API_KEY') },
      settings: { model: settingFromVariable('XAI_MODEL') },
    },
    {
      value: 'xai_tts',
      kind: 'tts',
      label: 'xAI',
      module: 'pipecat.services.xai.tts',
      className: 'XAITTSService',
      extras: ['xai'],
      arguments: { api_key: requiredVariable('XAI_API_KEY') },
      settings: { voice: settingFromVariable('XAI_VOICE_ID') },
    },
    {
      value: 'xai_realtime',
      kind: 'realtime',
      label: 'xAI Grok Realtime',
      module: 'pipecat.services.xai.realtime.llm',
      className: 'GrokRealtimeLLMService',
      extras: ['xai'],
      arguments: { api_key: requiredVariable('XAI_API_KEY') },
      settings: {
        session_properties: createConstructorExpression(session, { voice: variableWithDefault('XAI_VOICE_ID', 'eve') }),
      },
    },
  ],
};
