import { requiredVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const zoom: Vendor = {
  name: 'Zoom',
  site: 'https://developers.zoom.us',
  services: [
    {
      value: 'zoom_ai_stt',
      kind: 'stt',
      label: 'Zoom AI',
      module: 'pipecat.services.zoom_ai.stt',
      className: 'ZoomAISTTService',
      extras: ['zoom-ai'],
      arguments: { api_key: requiredVariable('ZOOM_AI_API_KEY') },
      settings: null,
      since: '1.14.0',
    },
  ],
};
