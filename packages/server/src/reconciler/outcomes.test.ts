import { expect, it } from 'vitest';
import { createOutcomes } from './outcomes.ts';

it('createOutcomes delivers an outcome to all waiters', async () => {
  const { settle, next, awaited } = createOutcomes<string>();
  const both = Promise.all([next('d'), next('d')]);
  settle('other', 'well');
  expect(awaited()).toEqual(['d']);
  settle('d', 'badly');
  expect(await both).toEqual(['badly', 'badly']);
  expect(awaited()).toEqual([]);
});

it('createOutcomes drops an outcome that has no waiter', async () => {
  const { settle, next } = createOutcomes<string>();
  settle('d', 'early');
  const outcome = next('d');
  settle('d', 'late');
  expect(await outcome).toBe('late');
});
