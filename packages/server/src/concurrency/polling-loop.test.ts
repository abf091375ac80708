import { expect, test } from 'vitest';
import { startPollingLoop } from './polling-loop.ts';

test('a polling loop polls at once, polls once more if woken during a poll that fails, and stops on close', async () => {
  const polls: { end: () => void; fail: (error: Error) => void; signal: AbortSignal }[] = [];
  const failures: unknown[] = [];
  const poll = (signal: AbortSignal) =>
    new Promise<void>((end, fail) => {
      polls.push({ end, fail, signal });
    });
  const loop = startPollingLoop(poll, (error) => failures.push(error));
  expect(polls).toHaveLength(1);
  loop.wake();
  loop.wake();
  expect(polls).toHaveLength(1);
  const failure = new Error('not now');
  polls[0]?.fail(failure);
  await expect.poll(() => polls.length).toBe(2);
  expect(failures).toEqual([failure]);
  loop.wake();
  const closed = loop.close();
  expect(polls[1]?.signal.aborted).toBe(true);
  polls[1]?.fail(new Error('left'));
  await closed;
  loop.wake();
  expect(polls).toHaveLength(2);
  expect(failures).toEqual([failure]);
});
