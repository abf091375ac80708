import { setImmediate } from 'node:timers/promises';
import { failure } from '@bothost/contract';
import { expect, it } from 'vitest';
import { createRefusalDelay } from './refusal-delay.ts';

it('createRefusalDelay delays only refusals for lack of capacity above 20 a second per organization', async () => {
  let at = 0;
  const delayRefusal = createRefusalDelay(() => new Date(at));
  const isPrompt = (organizationId: string, error: Error) =>
    Promise.race([delayRefusal(organizationId, error).then(() => true), setImmediate(false)]);
  const countPrompt = async (organizationId: string, refusals: number) => {
    let prompt = 0;
    for (let i = 0; i < refusals; i += 1) if (await isPrompt(organizationId, failure('at-capacity'))) prompt += 1;
    return prompt;
  };
  expect(await countPrompt('flooding', 25)).toBe(20);
  expect(await countPrompt('other', 20)).toBe(20);
  expect(await isPrompt('flooding', failure('not-found'))).toBe(true);
  expect(await isPrompt('flooding', new Error('connection lost'))).toBe(true);
  at += 500;
  expect(await countPrompt('flooding', 25)).toBe(10);
});
