import { describe, expect, it } from 'vitest';
import { limitConversationLine } from './limit-line.ts';
import { getConversationLineKey } from './line-key.ts';
import { BotConversationLine, ConversationLine } from './lines.ts';

const said = { kind: 'said', at: 5, turn: 1, side: 'bot', text: 'The capital of', from: 1, to: 4, interrupted: true };
const response = {
  kind: 'response',
  at: 900,
  turn: 1,
  from: 100,
  ms: 800,
  measuredFrom: 'silence',
  parts: [
    { stage: 'llm', service: 'OpenAILLMService#0', from: 100, ms: 500 },
    { stage: 'tts', from: 600, ms: 300 },
  ],
};

describe('BotConversationLine', () => {
  it('accepts a line, and removes fields that it does not know', () => {
    expect(BotConversationLine.parse({ ...said, color: 'red' })).toEqual(said);
    expect(BotConversationLine.parse(response)).toEqual(response);
  });

  it.each([
    [
      'a kind that only the service writes',
      { kind: 'dropped', at: 1, reason: 'invalid', lines: 1, bytes: 1, message: '' },
    ],
    ['a time in the year 9999', { ...said, from: 253_402_300_799_000 }],
    ['a negative time', { ...said, from: -1 }],
    ['a time with a fraction', { ...said, at: 1.5 }],
    ['parts that do not add up', { ...response, ms: 802 }],
    ['a name with a control character', { ...response, parts: [{ stage: 'llm', service: 'a\0b', from: 1, ms: 800 }] }],
    ['a reason that is a sentence', { kind: 'end', at: 1, reason: 'the caller said goodbye' }],
    ['peaks that are not base64', { kind: 'peaks', at: 1, from: 0, user: 'AA==', bot: '<b>' }],
    ['an array', [said]],
  ])('rejects %s', (_what, line) => {
    expect(BotConversationLine.safeParse(line).success).toBe(false);
  });

  it('accepts parts whose sum differs by a rounding of 1 ms', () => {
    expect(BotConversationLine.safeParse({ ...response, ms: 801 }).success).toBe(true);
  });
});

describe('getConversationLineKey', () => {
  it('returns the same key for a line that is written again when its end is known', () => {
    const begun = ConversationLine.parse({ kind: 'speech', at: 1, side: 'user', from: 1, to: null });
    const ended = ConversationLine.parse({ kind: 'speech', at: 900, side: 'user', from: 1, to: 880 });
    expect(getConversationLineKey(begun)).toBe(getConversationLineKey(ended));
    expect(getConversationLineKey(ConversationLine.parse({ kind: 'error', at: 1, category: 'timeout' }))).toBeNull();
  });
});

describe('limitConversationLine', () => {
  const tool = { kind: 'tool', at: 1, id: 'call_1', name: 'get_weather', state: 'completed', from: 1, to: 2 };
  const texts = { arguments: '{"city":"Paris"}', result: '"18 °C"', message: 'no' };
  const error = { kind: 'error', at: 1, category: 'authentication', service: 'DeepgramSTTService#0' };
  const peaks = { kind: 'peaks', at: 2_050, from: 0, user: 'AAEC', bot: '/wAA' };

  it.each([
    ['timings', [tool, error, response]],
    ['transcript', [said, { ...tool, ...texts }, { ...error, message: 'bad key sk-1' }, response]],
    ['recording', [said, { ...tool, ...texts }, { ...error, message: 'bad key sk-1' }, response, peaks]],
  ] as const)('keeps at the level %s only what this level allows', (level, kept) => {
    const lines = [said, { ...tool, ...texts }, { ...error, message: 'bad key sk-1' }, response, peaks];
    const limited = lines.map((line) => limitConversationLine(ConversationLine.parse(line), level));
    expect(limited.filter((line) => line !== null)).toEqual(kept);
  });
});
