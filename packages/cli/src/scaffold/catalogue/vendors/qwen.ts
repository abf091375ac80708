import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const qwen: Vendor = {
  name: 'Qwen',
  site: 'https://qwen.ai',
  services: [
    {
      value: 'qwen_llm',
      kind: 'llm',
      label: 'Qwen',
      module: 'pipecat.services.qwen.llm',
      className: 'QwenLLMService',
      extras: ['qwen'],
      arguments: { api_key: requiredVariable('QWEN_API_KEY') },
      settings: { model: settingFromVariable('QWEN_MODEL') },
    },
  ],
};
