import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const novita: Vendor = {
  name: 'Novita',
  site: 'https://novita.ai',
  services: [
    {
      value: 'novita_llm',
      kind: 'llm',
      label: 'Novita',
      module: 'pipecat.services.novita.llm',
      className: 'NovitaLLMService',
      extras: ['novita'],
      arguments: { api_key: requiredVariable('NOVITA_API_KEY') },
      settings: { model: settingFromVariable('NOVITA_MODEL') },
    },
  ],
};
