import { requiredVariable } from '../../python/environment.ts';
import { createConstructorExpression, createPythonExpression } from '../../python/expression.ts';
import type { Vendor } from '../vendor-service.ts';

const client = { module: 'pipecat.services.heygen.client', name: 'ServiceType' };
const request = { module: 'pipecat.services.heygen.api_liveavatar', name: 'LiveAvatarNewSessionRequest' };

export const heygen: Vendor = {
  name: 'HeyGen',
  site: 'https://www.heygen.com',
  services: [
    {
      value: 'heygen_video',
      kind: 'video',
      label: 'HeyGen',
      module: 'pipecat.services.heygen.video',
      className: 'HeyGenVideoService',
      extras: ['heygen'],
      arguments: {
        api_key: requiredVariable('HEYGEN_API_KEY'),
        service_type: createPythonExpression('ServiceType.LIVE_AVATAR', [client]),
        session_request: createConstructorExpression(request, { avatar_id: requiredVariable('HEYGEN_AVATAR_ID') }),
      },
      settings: null,
      session: 'session',
    },
  ],
};
