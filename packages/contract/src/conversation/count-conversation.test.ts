import { describe, expect, it } from 'vitest';
import { createConversationCounter, createResponseTimes } from './count-conversation.ts';
import { ConversationLine } from './lines.ts';

function count(lines: readonly object[]) {
  const counter = createConversationCounter();
  for (const line of lines) counter.add(ConversationLine.parse({ at: 1, ...line }));
  return counter.numbers();
}

const usage = { kind: 'usage', role: 'llm', service: 'llm#0' };

describe('createConversationCounter', () => {
  it('counts each turn, tool and interruption once, however often its line was written', () => {
    const tool = { kind: 'tool', id: 'a', name: 'book', from: 1 };
    const numbers = count([
      { kind: 'turn', turn: 0, from: 0, to: 900 },
      { kind: 'turn', turn: 1, from: 1_000, to: null },
      { ...tool, state: 'running', to: null },
      { ...tool, state: 'timed-out', to: 9 },
      { kind: 'turn', turn: 1, from: 1_000, to: 2_000, interrupted: true },
      { kind: 'turn', turn: 2, from: 2_000, to: 3_000 },
      { kind: 'error', category: 'timeout' },
      { kind: 'error', category: 'timeout' },
      { kind: 'end', reason: 'client-disconnected' },
    ]);
    expect(numbers).toMatchObject({
      turns: 2,
      interruptions: 1,
      tools: { calls: 1, failed: 1 },
      errors: 2,
      endReason: 'client-disconnected',
    });
  });

  it('keeps responses of different origins apart, in the order of their turns', () => {
    const response = (turn: number, ms: number, measuredFrom: string) => ({
      kind: 'response',
      turn,
      from: 0,
      ms,
      measuredFrom,
      parts: [],
    });
    const { responses, greetingMs } = count([
      response(0, 50, 'connect'),
      response(2, 900, 'silence'),
      response(1, 700, 'silence'),
      response(3, 400, 'release'),
    ]);
    expect(responses.silence).toEqual({ ms: [700, 900], p50: 700, p95: 900 });
    expect(responses.release).toEqual({ ms: [400], p50: 400, p95: 400 });
    expect(greetingMs).toBe(50);
  });

  it('adds up usage by service and model', () => {
    const { usage: sums } = count([
      { ...usage, model: 'a', inputTokens: 10, outputTokens: 1 },
      { ...usage, model: 'a', inputTokens: 5 },
      { ...usage, model: 'b', inputTokens: 7 },
    ]);
    expect(sums).toMatchObject([
      { model: 'a', inputTokens: 15, outputTokens: 1, characters: 0 },
      { model: 'b', inputTokens: 7 },
    ]);
  });

  it('keeps a bounded number of tool calls and services', () => {
    const { usage: sums, tools } = count([
      ...Array.from({ length: 200 }, (_, index) => ({ ...usage, model: `model ${index}` })),
      ...Array.from({ length: 6_000 }, (_, index) => ({
        kind: 'tool',
        id: `${index}`,
        name: 'a',
        state: 'running',
        from: 1,
        to: null,
      })),
    ]);
    expect(sums).toHaveLength(100);
    expect(tools.calls).toBe(5_000);
  });
});

describe('createResponseTimes', () => {
  it('computes percentiles by nearest rank, and returns null for an empty list', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(createResponseTimes(hundred)).toMatchObject({ p50: 50, p95: 95 });
    expect(createResponseTimes([])).toBeNull();
  });
});
