import { settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const pocketTts: Vendor = {
  name: 'Pocket TTS',
  site: 'https://github.com/kyutai-labs/pocket-tts',
  services: [
    {
      value: 'pockettts_tts',
      kind: 'tts',
      label: 'Pocket TTS (local)',
      module: 'pipecat.services.pocket_tts.tts',
      className: 'PocketTTSService',
      extras: ['pocket-tts'],
      arguments: {},
      settings: { voice: settingFromVariable('POCKET_TTS_VOICE_ID') },
      downloads: true,
      installation: { note: 'installs PyTorch, on Linux with CUDA: about 7 GB', gigabytes: 12 },
    },
  ],
};
