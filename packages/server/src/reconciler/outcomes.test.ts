import { expect, it } from 'vitest';
import { createDeploymentOutcomeWaiters } from './outcomes.ts';

it('createDeploymentOutcomeWaiters delivers the outcome of a deployment to all callers that wait for it', async () => {
  const { settle, next, awaited } = createDeploymentOutcomeWaiters<string>();
  const both = Promise.all([next('d'), next('d')]);
  settle('other', 'well');
  expect(awaited()).toEqual(['d']);
  settle('d', 'badly');
  expect(await both).toEqual(['badly', 'badly']);
  expect(awaited()).toEqual([]);
});

it('createDeploymentOutcomeWaiters drops the outcome of a deployment if no caller waits for it', async () => {
  const { settle, next } = createDeploymentOutcomeWaiters<string>();
  settle('d', 'early');
  const outcome = next('d');
  settle('d', 'late');
  expect(await outcome).toBe('late');
});
