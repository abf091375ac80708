import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { createTimeout } from './create-timeout.ts';

it('a timeout aborts its combined signal after a garbage collection', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: unknown = runInNewContext('gc');
  if (typeof collectGarbage !== 'function') throw new Error('Node.js does not expose gc');
  const signal = AbortSignal.any([new AbortController().signal, createTimeout(500)]);
  const aborted = once(signal, 'abort');
  // The objects of this turn of the event loop can only be collected in another one.
  await new Promise(setImmediate);
  collectGarbage();
  await aborted;
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
});
