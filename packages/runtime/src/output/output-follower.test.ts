import { once } from 'node:events';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createOutputFollower } from './output-follower.ts';

it('reads the rest of the output without following if the stream does not end in time', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const copies: boolean[] = [];
  const follower = createOutputFollower({
    copy: async (follows, signal) => {
      copies.push(follows);
      if (follows) await once(signal, 'abort');
    },
    streamEndMs: 200,
    onError: () => undefined,
  });
  follower.follow();
  const finished = follower.finish();
  await vi.advanceTimersByTimeAsync(199);
  expect(copies).toEqual([true]);
  await vi.advanceTimersByTimeAsync(1);
  await finished;
  expect(copies).toEqual([true, false]);
});
