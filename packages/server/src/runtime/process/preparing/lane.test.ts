import { expect, it } from 'vitest';
import { createLanes } from './lane.ts';

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
  const inLane = createLanes();
  const log: string[] = [];
  const [one, two, other] = [openWork(log, 'one'), openWork(log, 'two'), openWork(log, 'other')];
  const first = inLane('a', one.work);
  const failed = inLane('a', async () => Promise.reject(new Error('no')));
  const second = inLane('a', two.work);
  two.end();
  other.end();
  expect(await inLane('b', other.work)).toBe('other');
  expect(log).toEqual(['one begins', 'other begins', 'other ends']);
  one.end();
  await expect(failed).rejects.toThrow('no');
  expect(await Promise.all([first, second])).toEqual(['one', 'two']);
  expect(log.slice(3)).toEqual(['one ends', 'two begins', 'two ends']);
});

it('lets go of who gives up while waiting, and of nobody whose work has begun', async () => {
  const inLane = createLanes();
  const log: string[] = [];
  const [one, two, three] = [openWork(log, 'one'), openWork(log, 'two'), openWork(log, 'three')];
  const [begun, waiting] = [new AbortController(), new AbortController()];
  const first = inLane('a', one.work, begun.signal);
  const second = inLane('a', two.work, waiting.signal);
  const third = inLane('a', three.work);
  waiting.abort(new Error('enough'));
  await expect(second).rejects.toThrow('enough');
  begun.abort(new Error('too late'));
  three.end();
  one.end();
  expect(await Promise.all([first, third])).toEqual(['one', 'three']);
  expect(log).toEqual(['one begins', 'one ends', 'three begins', 'three ends']);
});
