import { required, setting } from '../../python/environment.ts';
import type { Vendor } from '../service.ts';

export const minimax: Vendor = {
  name: 'MiniMax',
  site: 'https://www.minimax.io',
  services: [
    {
      value: 'minimax_tts',
      kind: 'tts',
      label: 'MiniMax',
      module: 'pipecat.services.minimax.tts',
      className: 'MiniMaxHttpTTSService',
      extras: [],
      arguments: { api_key: required('MINIMAX_API_KEY'), group_id: required('MINIMAX_GROUP_ID') },
      settings: { voice: setting('MINIMAX_VOICE_ID') },
      session: 'aiohttp_session',
    },
  ],
};
