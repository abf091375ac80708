import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

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
      arguments: { api_key: requiredVariable('MINIMAX_API_KEY'), group_id: requiredVariable('MINIMAX_GROUP_ID') },
      settings: { voice: settingFromVariable('MINIMAX_VOICE_ID') },
      session: 'aiohttp_session',
    },
  ],
};
