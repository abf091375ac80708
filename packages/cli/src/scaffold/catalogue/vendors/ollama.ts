import { settingFromVariable, variableWithDefault } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const ollama: Vendor = {
  name: 'Ollama',
  site: 'https://ollama.com',
  services: [
    {
      value: 'ollama_llm',
      kind: 'llm',
      label: 'Ollama (local)',
      module: 'pipecat.services.ollama.llm',
      className: 'OLLamaLLMService',
      extras: [],
      arguments: { base_url: variableWithDefault('OLLAMA_BASE_URL', 'http://localhost:11434/v1') },
      settings: { model: settingFromVariable('OLLAMA_MODEL') },
    },
  ],
};
