import { requiredVariable } from '../../python/environment.ts';
import { createConstructorExpression, createPythonExpression } from '../../python/expression.ts';
import type { Vendor } from '../vendor-service.ts';

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
        params: createConstructorExpression(parameters, {
          api_key: requiredVariable('ULTRAVOX_API_KEY'),
          system_prompt: createPythonExpression('SYSTEM_INSTRUCTION'),
          max_duration: createPythonExpression('timedelta(minutes=30)', [timedelta]),
        }),
      },
      settings: null,
      aliases: ['ultravox'],
    },
  ],
};
