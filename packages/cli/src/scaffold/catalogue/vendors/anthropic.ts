import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const anthropic: Vendor = {
  name: 'Anthropic',
  site: 'https://platform.claude.com',
  services: [
    {
      value: 'anthropic_llm',
      kind: 'llm',
      label: 'Anthropic Claude',
      module: 'pipecat.services.anthropic.llm',
      className: 'AnthropicLLMService',
      extras: ['anthropic'],
      arguments: { api_key: requiredVariable('ANTHROPIC_API_KEY') },
      settings: { model: settingFromVariable('ANTHROPIC_MODEL') },
    },
  ],
};
