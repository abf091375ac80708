import { expect, test } from 'vitest';
import { startPollingLoop } from './polling-loop.ts';

test('looks at once, once more for all that was told meanwhile, also after a failure, and no more when it is closed', async () => {
  const looks: { end: () => void; fail: (error: Error) => void; signal: AbortSignal }[] = [];
  const failures: unknown[] = [];
  const look = (signal: AbortSignal) =>
    new Promise<void>((end, fail) => {
      looks.push({ end, fail, signal });
    });
  const loop = startPollingLoop(look, (error) => failures.push(error));
  expect(looks).toHaveLength(1);
  loop.kick();
  loop.kick();
  expect(looks).toHaveLength(1);
  const failure = new Error('not now');
  looks[0]?.fail(failure);
  await expect.poll(() => looks.length).toBe(2);
  expect(failures).toEqual([failure]);
  loop.kick();
  const closed = loop.close();
  expect(looks[1]?.signal.aborted).toBe(true);
  looks[1]?.fail(new Error('left'));
  await closed;
  loop.kick();
  expect(looks).toHaveLength(2);
  expect(failures).toEqual([failure]);
});
