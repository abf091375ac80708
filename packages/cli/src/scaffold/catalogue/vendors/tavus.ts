import { requiredVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const tavus: Vendor = {
  name: 'Tavus',
  site: 'https://www.tavus.io',
  services: [
    {
      value: 'tavus_video',
      kind: 'video',
      label: 'Tavus',
      module: 'pipecat.services.tavus.video',
      className: 'TavusVideoService',
      extras: ['tavus'],
      arguments: { api_key: requiredVariable('TAVUS_API_KEY'), replica_id: requiredVariable('TAVUS_REPLICA_ID') },
      settings: null,
      session: 'session',
    },
  ],
};
