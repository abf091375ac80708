import { requiredVariable } from '../../python/environment.ts';
import { constructorExpression, pythonExpression } from '../../python/expression.ts';
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
        params: constructorExpression(parameters, {
          api_key: requiredVariable('ULTRAVOX_API_KEY'),
          system_prompt: pythonExpression('SYSTEM_INSTRUCTION'),
          max_duration: pythonExpression('timedelta(minutes=30)', [timedelta]),
        }),
      },
      settings: null,
      aliases: ['ultravox'],
    },
  ],
};
