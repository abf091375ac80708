import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { withAnySignal } from './any-signal.ts';

it('withAnySignal aborts at the end of a timeout that nothing else refers to, after a garbage collection', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: unknown = runInNewContext('gc');
  if (typeof collectGarbage !== 'function') throw new Error('Node.js does not expose gc');
  const signals = () => [new AbortController().signal, AbortSignal.timeout(500)];
  const aborted = withAnySignal(signals(), async (signal) => {
    await once(signal, 'abort');
    return signal.aborted;
  });
  // The objects of this turn of the event loop can only be collected in another one.
  await new Promise(setImmediate);
  collectGarbage();
  expect(await aborted).toBe(true);
});
