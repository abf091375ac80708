import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const fireworks: Vendor = {
  name: 'Fireworks AI',
  site: 'https://fireworks.ai',
  services: [
    {
      value: 'fireworks_llm',
      kind: 'llm',
      label: 'Fireworks AI',
      module: 'pipecat.services.fireworks.llm',
      className: 'FireworksLLMService',
      extras: ['fireworks'],
      arguments: { api_key: requiredVariable('FIREWORKS_API_KEY') },
      settings: { model: settingFromVariable('FIREWORKS_MODEL') },
    },
  ],
};
