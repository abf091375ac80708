import { requiredVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const fal: Vendor = {
  name: 'fal',
  site: 'https://fal.ai',
  services: [
    {
      value: 'fal_stt',
      kind: 'stt',
      label: 'fal (Wizper)',
      module: 'pipecat.services.fal.stt',
      className: 'FalSTTService',
      extras: ['fal'],
      arguments: { api_key: requiredVariable('FAL_API_KEY') },
      settings: null,
      session: 'aiohttp_session',
    },
  ],
};
