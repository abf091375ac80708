import { expect, test } from 'vitest';
import { toPipecatEvalMessages } from './pipecat-eval.ts';

const said = (side: 'user' | 'bot', text: string, from: number) =>
  ({ kind: 'said', at: from, turn: 1, side, text, from, to: from + 1 }) as const;
const tool = (id: string, from: number, input?: string) =>
  ({
    kind: 'tool',
    at: from,
    id,
    name: 'book',
    from,
    to: from,
    ...(input === undefined ? {} : { arguments: input }),
  }) as const;

test('toPipecatEvalMessages joins what the bot says between two turns of the user, after the tool calls', () => {
  expect(
    toPipecatEvalMessages([
      said('bot', 'Hi, how can I help?', 1),
      said('user', ' A table for four, please. ', 10),
      said('bot', 'Let me check.', 20),
      { ...tool('a', 21), state: 'running' },
      { ...tool('a', 21, '{"seats":4}'), state: 'completed' },
      { ...tool('b', 22, '{"seats":5}'), state: 'cancelled' },
      { ...tool('c', 23, '{"seats":6}'), state: 'timed-out' },
      { ...tool('d', 24, '{"seats":7}'), state: 'failed' },
      said('bot', 'Seven works.', 30),
      said('user', 'Thank you.', 40),
    ]),
  ).toEqual([
    { role: 'assistant', content: 'Hi, how can I help?' },
    { role: 'user', content: 'A table for four, please.' },
    { role: 'tool_call', name: 'book', arguments: { seats: 4 }, cancelled: false },
    { role: 'tool_call', name: 'book', arguments: { seats: 5 }, cancelled: true },
    { role: 'tool_call', name: 'book', arguments: { seats: 6 }, cancelled: true },
    { role: 'tool_call', name: 'book', arguments: { seats: 7 }, cancelled: false },
    { role: 'assistant', content: 'Let me check. Seven works.' },
    { role: 'user', content: 'Thank you.' },
  ]);
});

test('toPipecatEvalMessages writes arguments that are cut as text, and leaves out empty texts', () => {
  expect(
    toPipecatEvalMessages([said('bot', '', 1), { ...tool('a', 2, '{"seats":4, "na'), state: 'completed' }]),
  ).toEqual([{ role: 'tool_call', name: 'book', arguments: { text: '{"seats":4, "na' }, cancelled: false }]);
});
