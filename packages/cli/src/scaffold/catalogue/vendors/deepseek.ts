import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const deepseek: Vendor = {
  name: 'DeepSeek',
  site: 'https://platform.deepseek.com',
  services: [
    {
      value: 'deepseek_llm',
      kind: 'llm',
      label: 'DeepSeek',
      module: 'pipecat.services.deepseek.llm',
      className: 'DeepSeekLLMService',
      extras: ['deepseek'],
      arguments: { api_key: requiredVariable('DEEPSEEK_API_KEY') },
      settings: { model: settingFromVariable('DEEPSEEK_MODEL') },
    },
  ],
};
