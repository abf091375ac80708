import { expect, test } from 'vitest';
import { freshTalk, nextTalk, type TalkEvent } from './talk-state.ts';

const after = (...events: readonly TalkEvent[]) => events.reduce(nextTalk, freshTalk);
const texts = (...events: readonly TalkEvent[]) => after(...events).lines.map((line) => `${line.who}: ${line.text}`);
const spoke: readonly TalkEvent[] = [
  { type: 'speaking', who: 'you', speaking: true },
  { type: 'speaking', who: 'you', speaking: false },
];

test('a line that a bot plans, speaks and completes is one line', () => {
  const part = (text: string, spoken_status: 'new' | 'completed'): TalkEvent => ({
    type: 'bot-said',
    output: { text, segment_id: 7, spoken_status },
  });
  expect(texts(part('Hel', 'new'), { type: 'you-typed', text: 'yes?' }, part('Hello', 'completed'))).toEqual([
    'bot: Hello',
    'you: yes?',
  ]);
});

test('single words and empty lines of a bot are not shown', () => {
  expect(
    texts(
      { type: 'bot-said', output: { text: 'Hel', aggregated_by: 'word' } },
      { type: 'bot-said', output: { text: ' ' } },
    ),
  ).toEqual([]);
});

test('what was spoken is shown as such until the bot tells the words', () => {
  expect(texts(...spoke)).toEqual(['you: You spoke']);
  expect(texts(...spoke, { type: 'you-said', text: 'good morning' })).toEqual(['you: good morning']);
});

test('a new conversation forgets the one before', () => {
  const state = after({ type: 'failed', error: 'no' }, ...spoke, { type: 'phase', phase: 'initializing' });
  expect(state).toEqual({ ...freshTalk, phase: 'initializing' });
});

test('nobody speaks after the end, however it came', () => {
  const [speaking] = spoke as [TalkEvent];
  expect(after(speaking, { type: 'phase', phase: 'ended' }).speaking.you).toBe(false);
  expect(after(speaking, { type: 'failed', error: 'gone' })).toMatchObject({ error: 'gone', speaking: { you: false } });
});
