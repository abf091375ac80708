import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const sambanova: Vendor = {
  name: 'SambaNova',
  site: 'https://sambanova.ai',
  services: [
    {
      value: 'sambanova_llm',
      kind: 'llm',
      label: 'SambaNova',
      module: 'pipecat.services.sambanova.llm',
      className: 'SambaNovaLLMService',
      extras: ['sambanova'],
      arguments: { api_key: requiredVariable('SAMBANOVA_API_KEY') },
      settings: { model: settingFromVariable('SAMBANOVA_MODEL') },
    },
  ],
};
