import { expect, test } from 'vitest';
import { startLooking } from './looking.ts';

test('looks at once, once more for all that was told meanwhile, also after a failure, and no more when it is closed', async () => {
  const looks: { end: () => void; fail: (error: Error) => void; signal: AbortSignal }[] = [];
  const failures: unknown[] = [];
  const look = (signal: AbortSignal) =>
    new Promise<void>((end, fail) => {
      looks.push({ end, fail, signal });
    });
  const looking = startLooking(look, (error) => failures.push(error));
  expect(looks).toHaveLength(1);
  looking.kick();
  looking.kick();
  expect(looks).toHaveLength(1);
  const failure = new Error('not now');
  looks[0]?.fail(failure);
  await expect.poll(() => looks.length).toBe(2);
  expect(failures).toEqual([failure]);
  looking.kick();
  const closed = looking.close();
  expect(looks[1]?.signal.aborted).toBe(true);
  looks[1]?.fail(new Error('left'));
  await closed;
  looking.kick();
  expect(looks).toHaveLength(2);
  expect(failures).toEqual([failure]);
});
