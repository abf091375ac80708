import { expect, it } from 'vitest';
import { createKeyedQueue } from './keyed-queue.ts';

/** Work that ends when it is told to. */
function openWork(log: string[], name: string) {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const work = async () => {
    log.push(`${name} begins`);
    await ended;
    log.push(`${name} ends`);
    return name;
  };
  return { work, end };
}

it('runs work of one key in its order, also after a failure, and that of others beside it', async () => {
  const enqueue = createKeyedQueue();
  const log: string[] = [];
  const [one, two, other] = [openWork(log, 'one'), openWork(log, 'two'), openWork(log, 'other')];
  const first = enqueue('a', one.work);
  const failed = enqueue('a', async () => Promise.reject(new Error('no')));
  const second = enqueue('a', two.work);
  two.end();
  other.end();
  expect(await enqueue('b', other.work)).toBe('other');
  expect(log).toEqual(['one begins', 'other begins', 'other ends']);
  one.end();
  await expect(failed).rejects.toThrow('no');
  expect(await Promise.all([first, second])).toEqual(['one', 'two']);
  expect(log.slice(3)).toEqual(['one ends', 'two begins', 'two ends']);
});

it('lets go of who gives up while waiting, and of nobody whose work has begun', async () => {
  const enqueue = createKeyedQueue();
  const log: string[] = [];
  const [one, two, three] = [openWork(log, 'one'), openWork(log, 'two'), openWork(log, 'three')];
  const [begun, waiting] = [new AbortController(), new AbortController()];
  const first = enqueue('a', one.work, begun.signal);
  const second = enqueue('a', two.work, waiting.signal);
  const third = enqueue('a', three.work);
  waiting.abort(new Error('enough'));
  await expect(second).rejects.toThrow('enough');
  begun.abort(new Error('too late'));
  three.end();
  one.end();
  expect(await Promise.all([first, third])).toEqual(['one', 'three']);
  expect(log).toEqual(['one begins', 'one ends', 'three begins', 'three ends']);
});
