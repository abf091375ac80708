import { ConnectionError, createApiError, requestRetryDelaysMs } from '@bothost/contract';
import { expect, test } from 'vitest';
import { withRetries } from './retry.ts';

function createTestContext(signal = new AbortController().signal) {
  const waited: number[] = [];
  const sleep = async (milliseconds: number) => {
    waited.push(milliseconds);
  };
  const statuses: (string | null)[] = [];
  const status = (text: string | null) => {
    statuses.push(text);
  };
  const messages = { notify: () => {}, show: async () => {}, status, isLive: true };
  return { waited, statuses, context: { io: { sleep, signal }, messages } };
}

test.each([new ConnectionError('connection lost'), createApiError('shutting-down'), createApiError('bot-unreachable')])(
  'retries after the error "%s" with increasing delays until a response arrives',
  async (error) => {
    const { waited, context } = createTestContext();
    let attempts = 0;
    const answer = await withRetries(context, async () => {
      attempts += 1;
      if (attempts < 4) throw error;
      return attempts;
    });
    expect([answer, waited]).toEqual([4, requestRetryDelaysMs.slice(0, 3)]);
  },
);

test('shows the retry status until a response arrives', async () => {
  for (const failures of [0, 1, requestRetryDelaysMs.length]) {
    const { statuses, context } = createTestContext();
    let attempts = 0;
    await withRetries(context, async () => {
      attempts += 1;
      if (attempts <= failures) throw new ConnectionError('connection lost');
    });
    const retryMessages = Array.from({ length: failures }, () => 'The service does not respond; retrying');
    expect(statuses).toEqual(failures === 0 ? [] : [...retryMessages, null]);
  }
});

test('does not retry after an error response or the last attempt', async () => {
  const { waited, context } = createTestContext();
  const refuse = () => Promise.reject(createApiError('not-found'));
  await expect(withRetries(context, refuse)).rejects.toMatchObject({ reason: 'not-found' });
  expect(waited).toEqual([]);
  const fail = () => Promise.reject(new ConnectionError('connection lost'));
  await expect(withRetries(context, fail)).rejects.toThrow('connection lost');
  expect(waited).toEqual(requestRetryDelaysMs);
});

test('stops retrying on Ctrl-C', async () => {
  const { waited, context } = createTestContext(AbortSignal.abort(new Error('interrupted')));
  await expect(withRetries(context, () => Promise.reject(new ConnectionError('connection lost')))).rejects.toThrow(
    'interrupted',
  );
  expect(waited).toEqual([]);
});
