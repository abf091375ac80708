import { expect, it } from 'vitest';
import { ConnectionError } from './client.ts';
import { createApiError } from './errors.ts';
import { delay, requestRetryDelaysMs, withRetries } from './with-retries.ts';

const { signal } = new AbortController();

function recordWaits() {
  const waitedMs: number[] = [];
  const wait = async (delayMs: number) => void waitedMs.push(delayMs);
  return { waitedMs, wait };
}

it('withRetries repeats a request with increasing delays until a response arrives', async () => {
  const { waitedMs, wait } = recordWaits();
  const errors = [new ConnectionError('lost'), createApiError('shutting-down'), createApiError('bot-unreachable')];
  const request = async () => {
    const error = errors.shift();
    if (error !== undefined) throw error;
    return 'response';
  };
  expect(await withRetries(request, signal, wait)).toBe('response');
  expect(waitedMs).toEqual(requestRetryDelaysMs.slice(0, 3));
});

it('withRetries does not repeat a request that the service rejects', async () => {
  const { waitedMs, wait } = recordWaits();
  const request = () => Promise.reject(createApiError('not-found'));
  await expect(withRetries(request, signal, wait)).rejects.toMatchObject({ reason: 'not-found' });
  expect(waitedMs).toEqual([]);
});

it('withRetries throws the last error when all retry delays have passed', async () => {
  const { waitedMs, wait } = recordWaits();
  const request = () => Promise.reject(new ConnectionError(`lost after ${waitedMs.length} delays`));
  await expect(withRetries(request, signal, wait)).rejects.toThrow(`lost after ${requestRetryDelaysMs.length} delays`);
  expect(waitedMs).toEqual(requestRetryDelaysMs);
});

it('withRetries stops waiting for the next attempt when the signal is aborted', async () => {
  const controller = new AbortController();
  const request = () => Promise.reject(new ConnectionError('lost'));
  const wait = () => {
    const waiting = delay(60_000, controller.signal);
    controller.abort(new Error('left the page'));
    return waiting;
  };
  await expect(withRetries(request, controller.signal, wait)).rejects.toThrow('left the page');
  await expect(delay(60_000, controller.signal)).rejects.toThrow('left the page');
});
