import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const cerebras: Vendor = {
  name: 'Cerebras',
  site: 'https://cloud.cerebras.ai',
  services: [
    {
      value: 'cerebras_llm',
      kind: 'llm',
      label: 'Cerebras',
      module: 'pipecat.services.cerebras.llm',
      className: 'CerebrasLLMService',
      extras: ['cerebras'],
      arguments: { api_key: requiredVariable('CEREBRAS_API_KEY') },
      settings: { model: settingFromVariable('CEREBRAS_MODEL') },
    },
  ],
};
