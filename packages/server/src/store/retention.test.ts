import { expect, it } from 'vitest';
import { removeInBatches } from './retention.ts';

it('removeInBatches continues until a batch is not full, and returns the number of removed rows', async () => {
  let rows = 2_500;
  const sizes: number[] = [];
  const remove = async (limit: number) => {
    const removed = Math.min(limit, rows);
    rows -= removed;
    sizes.push(removed);
    return removed;
  };
  expect(await removeInBatches(remove)).toBe(2_500);
  expect(sizes).toEqual([1_000, 1_000, 500]);
});
