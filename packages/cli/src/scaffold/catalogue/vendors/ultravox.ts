import { requiredVariable } from '../../python/environment.ts';
import { createConstructorExpression, createPythonExpression } from '../../python/expression.ts';
import { createService, createVendor } from '../vendor-service.ts';

const parameters = { module: 'pipecat.services.ultravox.llm', name: 'OneShotInputParams' };
const timedelta = { module: 'datetime', name: 'timedelta' };

export const ultravox = createVendor('Ultravox', 'https://www.ultravox.ai', [
  createService('ultravox_realtime', 'Ultravox', 'UltravoxRealtimeLLMService', {
    arguments: {
      params: createConstructorExpression(parameters, {
        api_key: requiredVariable('ULTRAVOX_API_KEY'),
        system_prompt: createPythonExpression('SYSTEM_INSTRUCTION'),
        max_duration: createPythonExpression('timedelta(minutes=30)', [timedelta]),
      }),
    },
    aliases: ['ultravox'],
  }),
]);
