import { getEventListeners, once } from 'node:events';
import { expect, it } from 'vitest';
import { withPatience } from './patience.ts';

it.each([0, 1])('work ends at the first of several signals, and nothing is left at any (%s)', async (index) => {
  const ends = [new AbortController(), new AbortController()];
  const signals = ends.map(({ signal }) => signal);
  const left = () => signals.map((signal) => getEventListeners(signal, 'abort').length);
  const work = withPatience(signals, async (patience) => {
    await once(patience, 'abort');
    return 'ended';
  });
  expect(left()).toEqual([1, 1]);
  ends[index]?.abort();
  expect(await work).toBe('ended');
  expect(left()).toEqual([0, 0]);
});

it('work that begins too late sees it, and work that fails leaves nothing either', async () => {
  const signal = AbortSignal.abort();
  expect(await withPatience([signal], async (patience) => patience.aborted)).toBe(true);
  await expect(withPatience([signal], () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
