import { setImmediate } from 'node:timers/promises';
import { createApiError } from '@bothost/contract';
import { expect, it } from 'vitest';
import { createCapacityRefusal, type RefusingAgent } from './capacity-refusal.ts';

it('createCapacityRefusal counts only at-capacity errors, records them, and delays the response if an organization has more than 20 of them per second', async () => {
  let at = 0;
  let counted = 0;
  const telemetry = {
    sessionStarted: () => {
      counted += 1;
    },
  };
  const recorded: string[] = [];
  const record = async ({ agentName }: RefusingAgent) => void recorded.push(agentName);
  const refuse = createCapacityRefusal({ now: () => new Date(at), telemetry, record });
  const isPrompt = (organizationId: string, error: Error) =>
    Promise.race([
      refuse({ organizationId, agentName: `bot of ${organizationId}` }, error).then(() => true),
      setImmediate(false),
    ]);
  const countPrompt = async (organizationId: string, refusals: number) => {
    let prompt = 0;
    for (let i = 0; i < refusals; i += 1)
      if (await isPrompt(organizationId, createApiError('at-capacity'))) prompt += 1;
    return prompt;
  };
  expect(await countPrompt('flooding', 25)).toBe(20);
  expect(await countPrompt('other', 20)).toBe(20);
  expect(counted).toBe(45);
  expect(await isPrompt('flooding', createApiError('not-found'))).toBe(true);
  expect(await isPrompt('flooding', new Error('connection lost'))).toBe(true);
  expect(counted).toBe(45);
  expect(recorded.filter((name) => name === 'bot of flooding')).toHaveLength(20);
  at += 500;
  expect(await countPrompt('flooding', 25)).toBe(10);
});
