import { describeVariable, requiredVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const speechmatics: Vendor = {
  name: 'Speechmatics',
  site: 'https://www.speechmatics.com',
  services: [
    {
      value: 'speechmatics_stt',
      kind: 'stt',
      label: 'Speechmatics',
      module: 'pipecat.services.speechmatics.stt',
      className: 'SpeechmaticsSTTService',
      extras: ['speechmatics'],
      arguments: { api_key: requiredVariable('SPEECHMATICS_API_KEY') },
      settings: null,
      variables: [describeVariable('SPEECHMATICS_RT_URL', false, 'address of another region of the vendor')],
    },
  ],
};
