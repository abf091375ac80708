import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const together: Vendor = {
  name: 'Together AI',
  site: 'https://www.together.ai',
  services: [
    {
      value: 'together_llm',
      kind: 'llm',
      label: 'Together AI',
      module: 'pipecat.services.together.llm',
      className: 'TogetherLLMService',
      extras: ['together'],
      arguments: { api_key: requiredVariable('TOGETHER_API_KEY') },
      settings: { model: settingFromVariable('TOGETHER_MODEL') },
    },
  ],
};
