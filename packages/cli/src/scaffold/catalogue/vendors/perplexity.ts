import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const perplexity: Vendor = {
  name: 'Perplexity',
  site: 'https://www.perplexity.ai',
  services: [
    {
      value: 'perplexity_llm',
      kind: 'llm',
      label: 'Perplexity',
      module: 'pipecat.services.perplexity.llm',
      className: 'PerplexityAgentHttpLLMService',
      extras: ['perplexity'],
      arguments: { api_key: requiredVariable('PERPLEXITY_API_KEY') },
      settings: { model: settingFromVariable('PERPLEXITY_MODEL') },
      since: '1.14.0',
    },
  ],
};
