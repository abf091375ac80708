import { expect, test } from 'vitest';
import { initialTalk, type TalkEvent, talkReducer } from './talk-state.ts';

const after = (...events: readonly TalkEvent[]) => events.reduce(talkReducer, initialTalk);
const texts = (...events: readonly TalkEvent[]) => after(...events).lines.map((line) => `${line.who}: ${line.text}`);
const spoke: readonly TalkEvent[] = [
  { type: 'speaking', who: 'you', speaking: true },
  { type: 'speaking', who: 'you', speaking: false },
];

test('updates of the same segment are one line', () => {
  const part = (text: string, spoken_status: 'new' | 'completed'): TalkEvent => ({
    type: 'bot-output',
    output: { text, segment_id: 7, spoken_status },
  });
  expect(texts(part('Hel', 'new'), { type: 'user-text', text: 'yes?' }, part('Hello', 'completed'))).toEqual([
    'bot: Hello',
    'you: yes?',
  ]);
});

test('single words and empty lines of a bot are left out', () => {
  expect(
    texts(
      { type: 'bot-output', output: { text: 'Hel', aggregated_by: 'word' } },
      { type: 'bot-output', output: { text: ' ' } },
    ),
  ).toEqual([]);
});

test('a placeholder shows that the user spoke until the transcript arrives', () => {
  expect(texts(...spoke)).toEqual(['you: You spoke']);
  expect(texts(...spoke, { type: 'user-transcript', text: 'good morning' })).toEqual(['you: good morning']);
});

test('a new conversation starts with an empty state', () => {
  const state = after({ type: 'failed', error: 'no' }, ...spoke, { type: 'phase', phase: 'initializing' });
  expect(state).toEqual({ ...initialTalk, phase: 'initializing' });
});

test('an error of the bot is listed once and does not end the conversation', () => {
  const ready: TalkEvent = { type: 'phase', phase: 'ready' };
  const error: TalkEvent = { type: 'bot-error', error: 'no voice' };
  expect(after(ready, error, error)).toMatchObject({ phase: 'ready', error: undefined, botErrors: ['no voice'] });
});

test('the end or failure of a conversation resets who is speaking', () => {
  const [speaking] = spoke as [TalkEvent];
  expect(after(speaking, { type: 'phase', phase: 'ended' }).speaking.you).toBe(false);
  expect(after(speaking, { type: 'failed', error: 'gone' })).toMatchObject({ error: 'gone', speaking: { you: false } });
});
