import { expect, it } from 'vitest';
import { createDeploymentOutcomeWaiters } from './outcomes.ts';

it('createDeploymentOutcomeWaiters delivers an outcome to all waiters for its id', async () => {
  const { settle, next, awaited } = createDeploymentOutcomeWaiters<string>();
  const both = Promise.all([next('d'), next('d')]);
  settle('other', 'well');
  expect(awaited()).toEqual(['d']);
  settle('d', 'badly');
  expect(await both).toEqual(['badly', 'badly']);
  expect(awaited()).toEqual([]);
});

it('createDeploymentOutcomeWaiters drops an outcome that has no waiter', async () => {
  const { settle, next } = createDeploymentOutcomeWaiters<string>();
  settle('d', 'early');
  const outcome = next('d');
  settle('d', 'late');
  expect(await outcome).toBe('late');
});
