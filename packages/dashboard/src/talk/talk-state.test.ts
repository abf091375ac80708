import { expect, test } from 'vitest';
import { initialTalkState, type TalkEvent, talkReducer } from './talk-state.ts';

type Unstamped<Event> = Event extends TalkEvent ? Omit<Event, 'at'> & { readonly at?: number } : never;
type TestEvent = Unstamped<TalkEvent>;

const after = (...events: readonly TestEvent[]) =>
  events.reduce((state, event) => talkReducer(state, { at: 0, ...event } as TalkEvent), initialTalkState);
const texts = (...events: readonly TestEvent[]) => after(...events).lines.map((line) => `${line.who}: ${line.text}`);
const spoke: readonly TestEvent[] = [
  { type: 'speaking', who: 'you', speaking: true, at: 1_000 },
  { type: 'speaking', who: 'you', speaking: false, at: 3_000 },
];

test('bot-output messages with the same segment id become one line of the transcript', () => {
  const part = (text: string, spoken_status: 'new' | 'completed'): TestEvent => ({
    type: 'bot-output',
    output: { text, segment_id: 7, spoken_status },
  });
  expect(texts(part('Hel', 'new'), { type: 'user-text', text: 'yes?' }, part('Hello', 'completed'))).toEqual([
    'bot: Hello',
    'you: yes?',
  ]);
});

test('the transcript omits bot-output messages that are blank or aggregated by word', () => {
  expect(
    texts(
      { type: 'bot-output', output: { text: 'Hel', aggregated_by: 'word' } },
      { type: 'bot-output', output: { text: ' ' } },
    ),
  ).toEqual([]);
});

test('the transcript shows a placeholder for speech until its text arrives', () => {
  const heard = (text: string, isFinal: boolean): TestEvent => ({ type: 'user-transcript', text, isFinal });
  expect(texts(...spoke)).toEqual(['you: You spoke']);
  expect(after(heard('good', false)).interim).toBe('good');
  expect(texts(...spoke, heard('good morning', true))).toEqual(['you: good morning']);
  expect(after(heard('good', false), heard('good morning', true)).interim).toBe('');
});

test("the latency is the time from the end of the person's turn to the first sign of the bot's reply", () => {
  const reply: TestEvent = { type: 'speaking', who: 'bot', speaking: true, at: 3_400 };
  expect(after(...spoke, reply).latenciesMs).toEqual([400]);
  expect(after(...spoke, reply, { ...reply, at: 9_000 }).latenciesMs).toEqual([400]);
  expect(after(reply).latenciesMs).toEqual([]);
});

test('only the first line of each reply has a latency', () => {
  const typed: TestEvent = { type: 'user-text', text: 'hello', at: 5_000 };
  const replies = ['hi', 'there'].map((text): TestEvent => ({ type: 'bot-output', output: { text }, at: 5_250 }));
  const reply: TestEvent = { type: 'speaking', who: 'bot', speaking: true, at: 3_400 };
  expect(after(typed, ...replies).lines).toMatchObject([{ who: 'you' }, { latencyMs: 250 }, { text: 'there' }]);
  expect(after(typed, ...replies).lines[2]).not.toHaveProperty('latencyMs');
  expect(after(...spoke, reply, ...replies).lines[1]).toMatchObject({ text: 'hi', latencyMs: 400 });
});

test('a tool call is a line of the transcript with its state and duration', () => {
  const call: TestEvent = { type: 'tool-call', callId: '1', name: 'get_weather', at: 1_000 };
  expect(after(call).lines).toMatchObject([{ who: 'tool', text: 'get_weather', state: 'running' }]);
  const end: TestEvent = { type: 'tool-result', callId: '1', isCanceled: false, at: 1_320 };
  expect(after(call, end).lines).toMatchObject([{ state: 'completed', durationMs: 320 }]);
  expect(after(call, { ...end, isCanceled: true }).lines).toMatchObject([{ state: 'canceled' }]);
});

test('the times of a service are collected in milliseconds, except the zeros of its start', () => {
  const time = (value: number): TestEvent => ({ type: 'service-times', times: [{ processor: 'Voice#0', value }] });
  expect(after(time(0), time(0.25), time(0.5)).serviceTimesMs.get('Voice#0')).toEqual([250, 500]);
});

test('the start of a conversation resets the state of the previous conversation', () => {
  const state = after({ type: 'failed', error: 'no' }, ...spoke, { type: 'phase', phase: 'initializing', at: 7 });
  expect(state).toEqual({ ...initialTalkState, phase: 'initializing', startedAt: 7 });
});

test('a repeated error from the bot is listed once and does not end the conversation', () => {
  const ready: TestEvent = { type: 'phase', phase: 'ready' };
  const error: TestEvent = { type: 'bot-error', error: 'no voice' };
  expect(after(ready, error, error)).toMatchObject({
    phase: 'ready',
    error: undefined,
    botErrors: [{ message: 'no voice', count: 2 }],
  });
});

test('after the end or failure of a conversation, the person is not shown as speaking', () => {
  const [speaking] = spoke as [TestEvent];
  expect(after(speaking, { type: 'phase', phase: 'ended' }).speaking.you).toBe(false);
  expect(after(speaking, { type: 'failed', error: 'gone' })).toMatchObject({ error: 'gone', speaking: { you: false } });
});

test('a video is shown until the video or the conversation ends', () => {
  const track = { id: 'camera' } as MediaStreamTrack;
  const accepted: TestEvent = { type: 'video-accepted', sources: ['camera', 'screen'] };
  const failed: TestEvent = { type: 'video-failed', problem: 'No camera found.' };
  const started: TestEvent = { type: 'video', source: 'camera', track };
  expect(after(accepted, failed, started)).toMatchObject({ video: { camera: track }, videoProblem: undefined });
  expect(after(accepted, started, { type: 'video', source: 'camera' }).video).toEqual({});
  expect(after(accepted, started, { type: 'phase', phase: 'ended' })).toMatchObject({ video: {}, acceptedVideo: [] });
});

test('the list of events keeps only the newest 500 events', () => {
  const messages = Array.from({ length: 501 }, (_, data): TestEvent => ({ type: 'message', name: 'metrics', data }));
  const { events } = after(...messages);
  expect([events.length, events[0]?.data, events.at(-1)?.id]).toEqual([500, 1, 501]);
});
