import { expect, it } from 'vitest';
import { createOutcomeWaiters } from './outcomes.ts';

it('createOutcomeWaiters delivers an outcome to all waiters for its id', async () => {
  const { settle, next, awaited } = createOutcomeWaiters<string>();
  const both = Promise.all([next('d'), next('d')]);
  settle('other', 'well');
  expect(awaited()).toEqual(['d']);
  settle('d', 'badly');
  expect(await both).toEqual(['badly', 'badly']);
  expect(awaited()).toEqual([]);
});

it('createOutcomeWaiters drops an outcome that has no waiter', async () => {
  const { settle, next } = createOutcomeWaiters<string>();
  settle('d', 'early');
  const outcome = next('d');
  settle('d', 'late');
  expect(await outcome).toBe('late');
});
