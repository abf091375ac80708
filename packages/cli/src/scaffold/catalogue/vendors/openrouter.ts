import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const openrouter: Vendor = {
  name: 'OpenRouter',
  site: 'https://openrouter.ai',
  services: [
    {
      value: 'openrouter_llm',
      kind: 'llm',
      label: 'OpenRouter',
      module: 'pipecat.services.openrouter.llm',
      className: 'OpenRouterLLMService',
      extras: ['openrouter'],
      arguments: { api_key: requiredVariable('OPENROUTER_API_KEY') },
      settings: { model: settingFromVariable('OPENROUTER_MODEL') },
    },
  ],
};
