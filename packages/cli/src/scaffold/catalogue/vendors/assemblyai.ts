import { requiredVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const assemblyai: Vendor = {
  name: 'AssemblyAI',
  site: 'https://www.assemblyai.com',
  services: [
    {
      value: 'assemblyai_stt',
      kind: 'stt',
      label: 'AssemblyAI',
      module: 'pipecat.services.assemblyai.stt',
      className: 'AssemblyAISTTService',
      extras: ['assemblyai'],
      arguments: { api_key: requiredVariable('ASSEMBLYAI_API_KEY') },
      settings: null,
    },
  ],
};
