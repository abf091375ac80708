import { settingFromVariable } from '../../python/environment.ts';
import type { Vendor } from '../vendor-service.ts';

export const moonshine: Vendor = {
  name: 'Moonshine',
  site: 'https://github.com/moonshine-ai/moonshine',
  services: [
    {
      value: 'moonshine_stt',
      kind: 'stt',
      label: 'Moonshine (local)',
      module: 'pipecat.services.moonshine.stt',
      className: 'MoonshineSTTService',
      extras: ['moonshine'],
      arguments: {},
      settings: { model: settingFromVariable('MOONSHINE_MODEL') },
      downloads: true,
      installation: { note: 'on Linux, its package needs glibc 2.34 or later (Debian 12, Ubuntu 22.04)' },
    },
  ],
};
