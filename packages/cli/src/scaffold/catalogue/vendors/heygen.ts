import { requiredVariable } from '../../python/environment.ts';
import { createConstructorExpression, createPythonExpression } from '../../python/expression.ts';
import { createService, createVendor } from '../vendor-service.ts';

const client = { module: 'pipecat.services.heygen.client', name: 'ServiceType' };
const request = { module: 'pipecat.services.heygen.api_liveavatar', name: 'LiveAvatarNewSessionRequest' };

export const heygen = createVendor('HeyGen', 'https://www.heygen.com', [
  createService('heygen_video', 'HeyGen', 'HeyGenVideoService', {
    arguments: {
      api_key: requiredVariable('HEYGEN_API_KEY'),
      service_type: createPythonExpression('ServiceType.LIVE_AVATAR', [client]),
      session_request: createConstructorExpression(request, { avatar_id: requiredVariable('HEYGEN_AVATAR_ID') }),
    },
    session: 'session',
  }),
]);
