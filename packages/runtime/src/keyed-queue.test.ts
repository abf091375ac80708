import { describe, expect, it } from 'vitest';
import { createKeyedQueue } from './keyed-queue.ts';

/** Returns a task that logs when it starts and ends. The task runs until `end` is called. */
function openTask(log: string[], name: string) {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const task = async () => {
    log.push(`${name} starts`);
    await ended;
    log.push(`${name} ends`);
    return name;
  };
  return { task, end };
}

describe('createKeyedQueue', () => {
  it('runs tasks of one key in order, even after a failure, and tasks of different keys concurrently', async () => {
    const enqueue = createKeyedQueue();
    const log: string[] = [];
    const [one, two, other] = [openTask(log, 'one'), openTask(log, 'two'), openTask(log, 'other')];
    const first = enqueue('a', one.task);
    const failed = enqueue('a', async () => Promise.reject(new Error('failed')));
    const second = enqueue('a', two.task);
    two.end();
    other.end();
    expect(await enqueue('b', other.task)).toBe('other');
    expect(log).toEqual(['one starts', 'other starts', 'other ends']);
    one.end();
    await expect(failed).rejects.toThrow('failed');
    expect(await Promise.all([first, second])).toEqual(['one', 'two']);
    expect(log.slice(3)).toEqual(['one ends', 'two starts', 'two ends']);
  });

  it('removes a waiting task when its signal aborts, but lets a running task finish', async () => {
    const enqueue = createKeyedQueue();
    const log: string[] = [];
    const [one, two, three] = [openTask(log, 'one'), openTask(log, 'two'), openTask(log, 'three')];
    const [running, waiting] = [new AbortController(), new AbortController()];
    const first = enqueue('a', one.task, { signal: running.signal });
    const second = enqueue('a', two.task, { signal: waiting.signal });
    const third = enqueue('a', three.task);
    waiting.abort(new Error('left'));
    await expect(second).rejects.toThrow('left');
    running.abort(new Error('too late'));
    three.end();
    one.end();
    expect(await Promise.all([first, third])).toEqual(['one', 'three']);
    expect(log).toEqual(['one starts', 'one ends', 'three starts', 'three ends']);
  });

  it('rejects a task if its key already has the maximum number of tasks, or would exceed the maximum total bytes', async () => {
    const enqueue = createKeyedQueue({ tasks: 3, bytes: 100, error: () => new Error('full') });
    const held = openTask([], 'held');
    const add = (key: string, bytes: number) => enqueue(key, held.task, { bytes });
    const accepted = [add('a', 40), add('a', 60)];
    await expect(add('a', 1)).rejects.toThrow('full');
    accepted.push(add('a', 0));
    await expect(add('a', 0)).rejects.toThrow('full');
    accepted.push(add('large', 1_000));
    await expect(add('large', 0)).rejects.toThrow('full');
    held.end();
    await Promise.all(accepted);
    await Promise.all([add('a', 90), add('a', 10), add('a', 0)]);
  });
});
