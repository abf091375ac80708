import { expect, it } from 'vitest';
import { createOutcomes } from './outcomes.ts';

it('outcomes are delivered to earlier and later waiters', async () => {
  const { settle, settled, awaited } = createOutcomes<string>();
  const order: string[] = [];
  const early = Promise.all([settled('d'), settled('d')]).then((outcomes) => order.push(...outcomes));
  expect(awaited()).toEqual(['d']);
  settle('other', 'well');
  expect(await settled('other')).toBe('well');
  expect(order).toEqual([]);
  settle('d', 'badly');
  await early;
  expect(order).toEqual(['badly', 'badly']);
  expect(awaited()).toEqual([]);
  settle('d', 'well at last');
  expect(await settled('d')).toBe('well at last');
});
