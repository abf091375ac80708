import { getEventListeners, once } from 'node:events';
import { expect, it } from 'vitest';
import { withAnySignal } from './any-signal.ts';

it.each([0, 1])(
  'withAnySignal aborts the work when the signal with index %s aborts, and removes all listeners',
  async (index) => {
    const ends = [new AbortController(), new AbortController()];
    const signals = ends.map(({ signal }) => signal);
    const left = () => signals.map((signal) => getEventListeners(signal, 'abort').length);
    const work = withAnySignal(signals, async (signal) => {
      await once(signal, 'abort');
      return 'ended';
    });
    expect(left()).toEqual([1, 1]);
    ends[index]?.abort();
    expect(await work).toBe('ended');
    expect(left()).toEqual([0, 0]);
  },
);

it('withAnySignal aborts the work at once if a signal is already aborted, and removes listeners on failure', async () => {
  const aborted = AbortSignal.abort();
  expect(await withAnySignal([aborted], async (signal) => signal.aborted)).toBe(true);
  await expect(withAnySignal([aborted], () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(getEventListeners(aborted, 'abort')).toEqual([]);
});
