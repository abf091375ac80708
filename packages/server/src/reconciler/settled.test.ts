import { expect, it } from 'vitest';
import { createSettled } from './settled.ts';

it('tells those who came before it and those who come after', async () => {
  const { settle, settled } = createSettled();
  const order: string[] = [];
  const early = Promise.all([settled('d'), settled('d')]).then(() => order.push('early'));
  settle('other');
  await settled('other');
  expect(order).toEqual([]);
  settle('d');
  await early;
  await settled('d');
  expect(order).toEqual(['early']);
});
