import { expect, test } from 'vitest';
import { createLevel, level } from './levels.ts';
import { complaintAbout, takeKey } from './public-key.ts';
import { routeOf, talkPath } from './route.ts';
import { freshTalk, nextTalk, type TalkEvent } from './talk-state.ts';

const after = (...events: readonly TalkEvent[]) => events.reduce(nextTalk, freshTalk);
const texts = (...events: readonly TalkEvent[]) => after(...events).lines.map((line) => `${line.who}: ${line.text}`);
const spoke: readonly TalkEvent[] = [
  { type: 'speaking', who: 'you', speaking: true },
  { type: 'speaking', who: 'you', speaking: false },
];
const plausible = 'pk_bootstrapkeythatisatleastthirtytwocharacterslong';

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

test('paths lead to their views, and agent names come through unharmed', () => {
  expect(routeOf('/')).toEqual({ name: 'start' });
  expect(routeOf(talkPath('my bot/1'))).toEqual({ name: 'talk', agent: 'my bot/1' });
  expect(routeOf('/talk/%E0%A4%A')).toEqual({ name: 'talk', agent: '%E0%A4%A' });
  expect(routeOf('/talk')).toEqual({ name: 'unknown', path: '/talk' });
});

test('a key in the fragment is taken out of the address bar and kept for the tab', () => {
  const kept = new Map<string, string>();
  const shown: string[] = [];
  const places = (hash: string) => ({
    location: { hash, pathname: '/talk/parrot', search: '?a=1' },
    history: { replaceState: (_: unknown, __: string, url?: string | URL | null) => void shown.push(String(url)) },
    storage: {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, value: string) => void kept.set(name, value),
      removeItem: (name: string) => void kept.delete(name),
    },
  });
  expect(takeKey(places(''))).toBeUndefined();
  expect(takeKey(places(`#key=${plausible}`))).toBe(plausible);
  expect(shown).toEqual(['/talk/parrot?a=1']);
  expect(takeKey(places(''))).toBe(plausible);
});

test('a key that cannot be right is told apart without asking the service', () => {
  expect(complaintAbout(plausible)).toBeUndefined();
  expect(complaintAbout('')).toMatch(/Enter/);
  expect(complaintAbout(plausible.replace('pk_', 'sk_'))).toMatch(/secret/);
  expect(complaintAbout('hunter2')).toMatch(/begins with pk_/);
  expect(complaintAbout(`pk_${'x'.repeat(49)}`)).toMatch(/mistyped/);
});

test('levels follow loudness and fall to nothing in silence', () => {
  expect(level(new Int16Array(100))).toBe(0);
  expect(level(new Int16Array(100).fill(32_000))).toBe(1);
  const quiet = level(new Int16Array(100).fill(300));
  expect(quiet).toBeGreaterThan(0);
  expect(level(new Int16Array(100).fill(3000))).toBeGreaterThan(quiet);
  let now = 0;
  const voice = createLevel(() => now);
  voice.hear(new Int16Array(100).fill(32_000));
  expect(voice.read()).toBe(1);
  now = 600;
  expect(voice.read()).toBe(0);
});
