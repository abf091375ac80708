import { requiredVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const simli: Vendor = {
  name: 'Simli',
  site: 'https://www.simli.com',
  services: [
    {
      value: 'simli_video',
      kind: 'video',
      label: 'Simli',
      module: 'pipecat.services.simli.video',
      className: 'SimliVideoService',
      extras: ['simli'],
      arguments: { api_key: requiredVariable('SIMLI_API_KEY'), face_id: requiredVariable('SIMLI_FACE_ID') },
      settings: null,
    },
  ],
};
