import { expect, test } from 'vitest';
import { createBoundedQueue } from './bounded-queue.ts';

test('each name has its turns in order, also after one that failed, and names do not wait for each other', async () => {
  const enqueue = createBoundedQueue({ requests: 10, bytes: 10 }, () => new Error('full'));
  const seen: string[] = [];
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const first = enqueue('one', 1, async () => {
    seen.push('first begins');
    await held;
    seen.push('first ends');
    throw new Error('first failed');
  });
  const second = enqueue('one', 1, async () => void seen.push('second'));
  const third = enqueue('one', 1, async () => {
    seen.push('third');
    return 3;
  });
  await enqueue('other', 1, async () => void seen.push('other'));
  expect(seen).toEqual(['first begins', 'other']);
  release();
  await expect(first).rejects.toThrow('first failed');
  await second;
  expect(await third).toBe(3);
  expect(seen).toEqual(['first begins', 'other', 'first ends', 'second', 'third']);
});

test('no more waits for a name than may, by number and by bytes, and others do not mind', async () => {
  const enqueue = createBoundedQueue({ requests: 3, bytes: 100 }, () => new Error('full'));
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const done: number[] = [];
  const ask = (of: string, bytes: number) =>
    enqueue(of, bytes, async () => {
      await held;
      done.push(bytes);
    });
  const waiting = [ask('one', 40), ask('one', 60)];
  await expect(ask('one', 1)).rejects.toThrow('full');
  waiting.push(ask('one', 0));
  await expect(ask('one', 0)).rejects.toThrow('full');
  waiting.push(ask('large', 1_000));
  await expect(ask('large', 0)).rejects.toThrow('full');
  release();
  await Promise.all(waiting);
  expect(done.toSorted()).toEqual([0, 1_000, 40, 60].toSorted());
  await Promise.all([ask('one', 90), ask('one', 10), ask('one', 0)]);
});
