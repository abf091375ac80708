import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const inception: Vendor = {
  name: 'Inception',
  site: 'https://www.inceptionlabs.ai',
  services: [
    {
      value: 'inception_llm',
      kind: 'llm',
      label: 'Inception',
      module: 'pipecat.services.inception.llm',
      className: 'InceptionLLMService',
      extras: ['inception'],
      arguments: { api_key: requiredVariable('INCEPTION_API_KEY') },
      settings: { model: settingFromVariable('INCEPTION_MODEL') },
    },
  ],
};
