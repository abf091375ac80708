import { EventEmitter, once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createReconcileLoop } from './reconcile-loop.ts';

const never = new AbortController().signal;

/** A loop whose passes wait until the test ends them. */
function open() {
  const closing = new AbortController();
  const passes = new EventEmitter();
  const failures: unknown[] = [];
  let begun = 0;
  const pass = async () => {
    begun += 1;
    const ended = once(passes, 'end');
    passes.emit('begin');
    const [error] = await ended;
    if (error !== undefined) throw error;
  };
  const loop = createReconcileLoop(pass, closing.signal, {
    succeeded: () => undefined,
    failed: (error) => failures.push(error),
  });
  onTestFinished(() => {
    closing.abort();
    passes.emit('end');
    return loop.close();
  });
  return {
    loop,
    closing,
    failures,
    begun: () => begun,
    nextBegin: () => once(passes, 'begin'),
    end: (error?: Error) => passes.emit('end', error),
  };
}

describe('the reconcile loop', () => {
  it('runs no requested pass before it is started', () => {
    const { loop, begun } = open();
    loop.request();
    expect(begun()).toBe(0);
    loop.start();
    expect(begun()).toBe(1);
  });

  it('runs only one more pass if several passes are requested during the current pass', async () => {
    const { loop, begun, nextBegin, end } = open();
    loop.start();
    for (let times = 0; times < 3; times++) loop.request();
    expect(begun()).toBe(1);
    const second = nextBegin();
    end();
    await second;
    const over = loop.nextPass(never);
    end();
    await over;
    expect(begun()).toBe(2);
  });

  it('reports a failed pass and continues', async () => {
    const { loop, failures, nextBegin, end } = open();
    loop.start();
    const failure = new Error('The database is unreachable.');
    const over = loop.nextPass(never);
    end(failure);
    await over;
    expect(failures).toEqual([failure]);
    const second = nextBegin();
    loop.request();
    await second;
  });

  it('waits for the current pass when it is closed, and runs no further pass', async () => {
    const { loop, closing, begun, end } = open();
    loop.start();
    loop.request();
    closing.abort();
    let isClosed = false;
    const closed = loop.close().then(() => {
      isClosed = true;
    });
    await new Promise(setImmediate);
    expect(isClosed).toBe(false);
    end();
    await closed;
    loop.request();
    expect(begun()).toBe(1);
  });

  it('ends the wait for the next pass when the signal aborts', async () => {
    const { loop } = open();
    const waiting = new AbortController();
    const over = loop.nextPass(waiting.signal);
    waiting.abort();
    await expect(over).resolves.toBeUndefined();
  });
});
