import { ConnectionError, failure } from '@bothost/contract';
import { expect, test } from 'vitest';
import { patiently, pauses } from './patience.ts';

function circumstances(signal = new AbortController().signal) {
  const waited: number[] = [];
  const pause = async (milliseconds: number) => {
    waited.push(milliseconds);
  };
  const talk = { say: () => {}, show: async () => {}, status: () => {}, isLive: false };
  return { waited, context: { world: { pause, signal }, talk } };
}

test.each([new ConnectionError('gone'), failure('shutting-down'), failure('bot-unreachable')])(
  'after %s it is asked again, with growing pauses, until there is an answer',
  async (error) => {
    const { waited, context } = circumstances();
    let asked = 0;
    const answer = await patiently(context, async () => {
      asked += 1;
      if (asked < 4) throw error;
      return asked;
    });
    expect([answer, waited]).toEqual([4, pauses.slice(0, 3)]);
  },
);

test('a refusal is final, and so is the last attempt', async () => {
  const { waited, context } = circumstances();
  const refuse = () => Promise.reject(failure('not-found'));
  await expect(patiently(context, refuse)).rejects.toMatchObject({ reason: 'not-found' });
  expect(waited).toEqual([]);
  const fail = () => Promise.reject(new ConnectionError('gone'));
  await expect(patiently(context, fail)).rejects.toThrow('gone');
  expect(waited).toEqual(pauses);
});

test('Ctrl-C is not waited through', async () => {
  const { waited, context } = circumstances(AbortSignal.abort(new Error('interrupted')));
  await expect(patiently(context, () => Promise.reject(new ConnectionError('gone')))).rejects.toThrow('interrupted');
  expect(waited).toEqual([]);
});
