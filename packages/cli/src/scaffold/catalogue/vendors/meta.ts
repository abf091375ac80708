import { requiredVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const meta: Vendor = {
  name: 'Meta',
  site: 'https://ai.meta.com',
  services: [
    {
      value: 'meta_stt',
      kind: 'stt',
      label: 'Meta',
      module: 'pipecat.services.meta.stt',
      className: 'MetaSTTService',
      extras: ['meta'],
      arguments: { api_key: requiredVariable('META_API_KEY') },
      settings: null,
    },
  ],
};
