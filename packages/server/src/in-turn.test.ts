import { expect, test } from 'vitest';
import { createInTurn } from './in-turn.ts';

test('each name has its turns in order, also after one that failed, and names do not wait for each other', async () => {
  const inTurn = createInTurn();
  const seen: string[] = [];
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const first = inTurn('one', async () => {
    seen.push('first begins');
    await held;
    seen.push('first ends');
    throw new Error('first failed');
  });
  const second = inTurn('one', async () => void seen.push('second'));
  const third = inTurn('one', async () => {
    seen.push('third');
    return 3;
  });
  await inTurn('other', async () => void seen.push('other'));
  expect(seen).toEqual(['first begins', 'other']);
  release();
  await expect(first).rejects.toThrow('first failed');
  await second;
  expect(await third).toBe(3);
  expect(seen).toEqual(['first begins', 'other', 'first ends', 'second', 'third']);
});
