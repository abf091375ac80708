import type { ConversationLine } from '@bothost/contract';
import { describe, expect, it } from 'vitest';
import { createTranscript, listTranscriptEntries } from './transcript.ts';

const said = (turn: number, side: 'user' | 'bot', text: string, from: number, to: number | null = from + 500) =>
  ({ kind: 'said', at: to ?? from, turn, side, text, from, to }) as const;
const speech = (turn: number, side: 'user' | 'bot', from: number, to: number | null) =>
  ({ kind: 'speech', at: to ?? from, side, from, to, turn }) as const;
const turn = (number: number, from: number) => ({ kind: 'turn', at: from, turn: number, from, to: null }) as const;
const tool = { kind: 'tool', at: 1, id: 'call 1', name: 'get_weather', from: 2_100, turn: 1 } as const;

const show = (entries: ReturnType<typeof listTranscriptEntries>) =>
  entries.map(({ who, text, ms }) => `${who}: ${text}${ms === null ? '' : ` ${ms} ms`}`);

const call: readonly ConversationLine[] = [
  speech(0, 'bot', 100, 600),
  said(0, 'bot', 'Hello', 100, 600),
  turn(1, 1_000),
  speech(1, 'user', 1_000, 1_900),
  said(1, 'user', 'Weather?', 1_000, 1_900),
  { ...tool, state: 'running', to: null },
  { ...tool, state: 'completed', to: 2_330, arguments: '{"city":"Paris"}', result: '"18 °C"' },
  { kind: 'response', at: 1, turn: 1, from: 0, ms: 812, measuredFrom: 'silence', parts: [] },
  speech(1, 'bot', 2_712, null),
  { ...said(1, 'bot', '', 2_712, null) },
  { ...said(1, 'bot', 'It is', 2_712, 3_000), interrupted: true },
  {
    kind: 'error',
    at: 3_100,
    category: 'timeout',
    service: 'tts#0',
    exceptionType: 'TimeoutError',
    message: 'no audio',
  },
];

describe('listTranscriptEntries', () => {
  it('shows texts, tools and errors once, with response time and duration', () => {
    const entries = listTranscriptEntries(call, true);
    expect(show(entries)).toEqual([
      'bot: Hello',
      'caller: Weather?',
      'tool: get_weather({"city":"Paris"}) completed: "18 °C" 230 ms',
      'bot: It is 812 ms',
      'error: tts#0: timeout (TimeoutError): no audio',
    ]);
    expect(entries.filter(({ isInterrupted }) => isInterrupted)).toHaveLength(1);
  });

  it('shows speech instead of texts if there are none', () => {
    const lines = call.filter(({ kind }) => kind !== 'said');
    expect(show(listTranscriptEntries(lines, false))).toEqual([
      'bot: (speaks for 0.5 s)',
      'caller: (speaks for 0.9 s)',
      'tool: get_weather({"city":"Paris"}) completed: "18 °C" 230 ms',
      'bot: (speaks) 812 ms',
      'error: tts#0: timeout (TimeoutError): no audio',
    ]);
  });

  it('shows a failed tool, lines that the service left out, and why a recording ended early', () => {
    const entries = listTranscriptEntries(
      [
        { ...tool, state: 'failed', to: 2_200, message: 'no such city' },
        { kind: 'dropped', at: 9, reason: 'invalid', lines: 1, bytes: 5, message: 'The line is not JSON.' },
        { kind: 'dropped', at: 9, reason: 'invalid', lines: 3, bytes: 15, message: 'The line is not JSON.' },
        { kind: 'recording', at: 4_000, to: 3_000, reason: 'disk-full' },
      ],
      true,
    );
    expect(show(entries)).toEqual([
      'error: The line is not JSON. (3 lines left out)',
      'tool: get_weather() failed: no such city 100 ms',
      'error: The recording ended early because the disk is full.',
    ]);
    expect(entries.every(({ isFailure }) => isFailure)).toBe(true);
  });
});

describe('createTranscript', () => {
  it('returns each entry as soon as it has ended', () => {
    const transcript = createTranscript(true);
    expect(call.map((line) => transcript.add(line).length)).toEqual([0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1, 1]);
    expect(transcript.end()).toEqual([]);
  });

  it('returns speech without text before the answer of the bot, and what is left at the end', () => {
    const transcript = createTranscript(true);
    for (const line of [turn(1, 0), speech(1, 'user', 0, null), speech(1, 'user', 0, 1_000)]) {
      expect(transcript.add(line)).toEqual([]);
    }
    expect(show(transcript.add(said(1, 'bot', 'I heard you', 1_700)))).toEqual([
      'caller: (speaks for 1.0 s)',
      'bot: I heard you',
    ]);
    transcript.add(said(2, 'bot', 'And then', 3_000, null));
    expect(show(transcript.end())).toEqual(['bot: And then']);
  });
});
