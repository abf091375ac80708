import { requiredVariable, settingFromVariable, variableWithDefault } from '../../python/environment.ts';
import { createConstructorExpression } from '../../python/expression.ts';
import { createService, createVendor } from '../vendor-service.ts';

const session = { module: 'pipecat.services.xai.realtime.events', name: 'SessionProperties' };

export const xai = createVendor('xAI', 'https://x.ai', [
  createService('xai_stt', 'xAI', 'XAISTTService', {
    arguments: { api_key: requiredVariable('XAI_API_KEY') },
  }),
  createService('xai_llm', 'xAI Grok', 'GrokLLMService', {
    arguments: { api_key: requiredVariable('XAI_API_KEY') },
    settings: { model: settingFromVariable('XAI_MODEL') },
  }),
  createService('xai_tts', 'xAI', 'XAITTSService', {
    arguments: { api_key: requiredVariable('XAI_API_KEY') },
    settings: { voice: settingFromVariable('XAI_VOICE_ID') },
  }),
  createService('xai_realtime', 'xAI Grok Realtime', 'GrokRealtimeLLMService', {
    module: 'pipecat.services.xai.realtime.llm',
    arguments: { api_key: requiredVariable('XAI_API_KEY') },
    settings: {
      session_properties: createConstructorExpression(session, { voice: variableWithDefault('XAI_VOICE_ID', 'eve') }),
    },
  }),
]);
