import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const baseten: Vendor = {
  name: 'Baseten',
  site: 'https://www.baseten.co',
  services: [
    {
      value: 'baseten_llm',
      kind: 'llm',
      label: 'Baseten',
      module: 'pipecat.services.baseten.llm',
      className: 'BasetenLLMService',
      extras: ['baseten'],
      arguments: { api_key: requiredVariable('BASETEN_API_KEY') },
      settings: { model: settingFromVariable('BASETEN_MODEL') },
    },
  ],
};
