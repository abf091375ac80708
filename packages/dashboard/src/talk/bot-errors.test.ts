import { expect, test } from 'vitest';
import { addBotError, suggestNextStep } from './bot-errors.ts';

const after = (...texts: readonly string[]) => texts.reduce(addBotError, [] as ReturnType<typeof addBotError>);

test('an error that is reported again is counted instead of listed again', () => {
  const text = 'DeepgramSTTService#0: Error code: 401';
  expect(after(text, text, 'CartesiaTTSService#0 error: no voice')).toEqual([
    { service: 'DeepgramSTTService', message: 'Error code: 401', count: 2 },
    { service: 'CartesiaTTSService', message: 'no voice', count: 1 },
  ]);
});

test.each([
  ['Error in OpenAILLMService#2: timed out', 'OpenAILLMService', 'Error in OpenAILLMService#2: timed out'],
  ['GeminiLiveLLMService#0 exception: closed', 'GeminiLiveLLMService', 'closed'],
  ['out of memory', null, 'out of memory'],
  ["KeyError: 'X'", null, "KeyError: 'X'"],
  ['KeyError: OpenAILLMService#2', 'OpenAILLMService', 'KeyError: OpenAILLMService#2'],
])('the error %j belongs to the service %s', (text, service, message) => {
  expect(after(text)).toEqual([{ service, message, count: 1 }]);
});

test('no more than 20 different errors are kept', () => {
  const errors = after(...Array.from({ length: 25 }, (_, number) => `error ${number}`));
  expect([errors.length, errors[0]?.message]).toEqual([20, 'error 5']);
});

test.each([
  ['HTTP 401: Unauthorized', 'key in the secrets'],
  ['Rate limit reached for gpt-4.1', 'limits and the balance'],
  ['The model `gpt-9` does not exist', 'model, the voice'],
  ['Connection timed out', 'status page'],
  ['something else', 'log of the session'],
])('the next step after the error %j is about the %s', (text, next) => {
  expect(suggestNextStep(after(text))).toContain(next);
});
