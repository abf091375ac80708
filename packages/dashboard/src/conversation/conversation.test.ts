import type { ConversationLine } from '@bothost/contract';
import { expect, test } from 'vitest';
import { createConversation, findTurnAt } from './conversation.ts';
import { listUtterances } from './utterances.ts';

const speech = { kind: 'speech', at: 0, side: 'user', from: 2_000, to: null, turn: 1 } as const;
const lines: readonly ConversationLine[] = [
  { kind: 'turn', at: 0, turn: 0, from: 0, to: 1_900 },
  { kind: 'said', at: 0, turn: 0, side: 'bot', text: 'Hello!', from: 300, to: 1_800 },
  { kind: 'turn', at: 0, turn: 1, from: 2_000, to: null },
  speech,
  { ...speech, to: 3_000 },
  { kind: 'said', at: 0, turn: 1, side: 'bot', text: 'The capital of', from: 3_800, to: 4_200, interrupted: true },
  { kind: 'usage', at: 3_500, role: 'llm', service: 'model', inputTokens: 3 },
  { kind: 'usage', at: 3_500, role: 'llm', service: 'model', inputTokens: 3 },
  { kind: 'error', at: 4_500, category: 'timeout' },
  { kind: 'turn', at: 0, turn: 1, from: 2_000, to: 4_300, interrupted: true },
  { kind: 'turn', at: 0, turn: 2, from: 4_300, to: null },
];

test('createConversation keeps the latest version of a line, and counts lines without a key each', () => {
  const { turns, speech: spans } = createConversation(lines);
  expect(spans).toEqual([{ ...speech, to: 3_000 }]);
  expect(turns.map(({ number, toMs, isInterrupted }) => [number, toMs, isInterrupted])).toEqual([
    [0, 1_900, false],
    [1, 4_300, true],
    [2, null, false],
  ]);
  expect(turns[1]?.usage).toHaveLength(2);
});

test('createConversation assigns lines without a turn by their time', () => {
  const { turns } = createConversation(lines);
  expect(turns.map(({ usage, errors }) => [usage.length, errors.length])).toEqual([
    [0, 0],
    [2, 0],
    [0, 1],
  ]);
});

test('createConversation creates a turn whose own line is missing', () => {
  const { turns } = createConversation([{ kind: 'said', at: 9, turn: 7, side: 'user', text: 'Hi', from: 5, to: 9 }]);
  expect(turns).toMatchObject([{ number: 7, fromMs: 5, toMs: 9, said: [{ text: 'Hi' }] }]);
});

test('createConversation returns no turns for lines that belong to none', () => {
  const recordingEnd = { kind: 'recording', at: 9, to: 5, reason: 'limit' } as const;
  const peaks = { kind: 'peaks', at: 5, from: 0, user: 'AA==', bot: 'AA==' } as const;
  expect(createConversation([])).toMatchObject({ services: null, recordingEnd: null, turns: [] });
  expect(createConversation([peaks, recordingEnd])).toMatchObject({ recordingEnd, turns: [] });
});

test('listUtterances returns texts, and the span of the speech of a side without text', () => {
  const { turns } = createConversation(lines);
  expect(turns.map(listUtterances)).toMatchObject([
    [{ side: 'bot', text: 'Hello!', isInterrupted: false }],
    [
      { side: 'user', text: null, fromMs: 2_000, toMs: 3_000 },
      { side: 'bot', text: 'The capital of', isInterrupted: true },
    ],
    [],
  ]);
});

test('listUtterances returns an utterance without an end while a side is speaking', () => {
  const { turns } = createConversation([speech]);
  expect(turns.map(listUtterances)).toMatchObject([[{ side: 'user', text: null, fromMs: 2_000, toMs: null }]]);
});

test('findTurnAt returns the turn at a time, or the first turn for an earlier time', () => {
  const turns = [{ fromMs: 10 }, { fromMs: 20 }];
  expect([0, 10, 19, 20, 99].map((at) => findTurnAt(turns, at))).toEqual(
    [10, 10, 10, 20, 20].map((fromMs) => ({ fromMs })),
  );
  expect(findTurnAt([], 5)).toBeUndefined();
});
