import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const crusoe: Vendor = {
  name: 'Crusoe',
  site: 'https://crusoe.ai',
  services: [
    {
      value: 'crusoe_llm',
      kind: 'llm',
      label: 'Crusoe',
      module: 'pipecat.services.crusoe.llm',
      className: 'CrusoeLLMService',
      extras: ['crusoe'],
      arguments: { api_key: requiredVariable('CRUSOE_API_KEY') },
      settings: { model: settingFromVariable('CRUSOE_MODEL') },
    },
  ],
};
