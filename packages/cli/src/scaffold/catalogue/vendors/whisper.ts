import { settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const whisper: Vendor = {
  name: 'Whisper',
  site: 'https://github.com/SYSTRAN/faster-whisper',
  services: [
    {
      value: 'whisper_stt',
      kind: 'stt',
      label: 'Whisper (local)',
      module: 'pipecat.services.whisper.stt',
      className: 'WhisperSTTService',
      extras: ['whisper'],
      arguments: {},
      settings: { model: settingFromVariable('WHISPER_MODEL') },
      downloads: true,
    },
  ],
};
