import { required } from '../../python/environment.ts';
import { construct, python } from '../../python/expression.ts';
import type { Vendor } from '../service.ts';

const parameters = { module: 'pipecat.services.ultravox.llm', name: 'OneShotInputParams' };
const timedelta = { module: 'datetime', name: 'timedelta' };

export const ultravox: Vendor = {
  name: 'Ultravox',
  site: 'https://www.ultravox.ai',
  services: [
    {
      value: 'ultravox_realtime',
      kind: 'realtime',
      label: 'Ultravox',
      module: 'pipecat.services.ultravox.llm',
      className: 'UltravoxRealtimeLLMService',
      extras: ['ultravox'],
      arguments: {
        params: construct(parameters, {
          api_key: required('ULTRAVOX_API_KEY'),
          system_prompt: python('SYSTEM_INSTRUCTION'),
          max_duration: python('timedelta(minutes=30)', [timedelta]),
        }),
      },
      settings: null,
      aliases: ['ultravox'],
    },
  ],
};
