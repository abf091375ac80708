import { requiredVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const gladia: Vendor = {
  name: 'Gladia',
  site: 'https://www.gladia.io',
  services: [
    {
      value: 'gladia_stt',
      kind: 'stt',
      label: 'Gladia',
      module: 'pipecat.services.gladia.stt',
      className: 'GladiaSTTService',
      extras: ['gladia'],
      arguments: { api_key: requiredVariable('GLADIA_API_KEY') },
      settings: null,
    },
  ],
};
