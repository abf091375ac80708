import { readFileSync } from 'node:fs';
import {
  BotConversationLine,
  type ConversationLineOf,
  createConversationCounter,
  getConversationLineKey,
} from '@bothost/contract';
import { describe, expect, it } from 'vitest';
import { parsePublishedEvent } from './published-event.ts';
import { createPublishedLines, type PublishedLines } from './published-lines.ts';

const startSeconds = 1_764_000_000;
const startedAt = startSeconds * 1000;

/** Seconds since the start at which an event was received and posted, its name, and its properties. */
type Post = readonly [receivedAt: number, postedAt: number, name: string, properties: object];

/**
 * Posts of the observers of Pipecat Cloud's base image 0.1.31, in the order of their arrival: a phone call to a generated bot with
 * Pipecat 1.14, with two barge-ins, a failing tool and an error of the model. Only the times were moved.
 */
const genuine: readonly Post[] = JSON.parse(
  readFileSync(new URL('../../test/conversations/published-events.json', import.meta.url), 'utf8'),
);

function convertPost(published: PublishedLines, [receivedAt, postedAt, name, properties]: Post): BotConversationLine[] {
  const event = parsePublishedEvent({ event_name: name, event_properties: properties }, name);
  if (event === 'invalid') throw new Error(`${name} is invalid: ${JSON.stringify(properties)}`);
  if (event === null) return [];
  const times = { at: startedAt + receivedAt * 1000, postedAt: startedAt + postedAt * 1000, startedAt };
  const lines = published.convert(event, times).map((line) => BotConversationLine.parse(line));
  for (const line of lines) published.record(line);
  return lines;
}

function convertAll(posts: readonly Post[]): readonly BotConversationLine[] {
  const published = createPublishedLines();
  return posts.flatMap((post) => convertPost(published, post));
}

/** The latest version of each line of a kind. */
function latest<Kind extends BotConversationLine['kind']>(
  lines: readonly BotConversationLine[],
  kind: Kind,
): readonly ConversationLineOf<Kind>[] {
  const byKey = new Map(lines.map((line, index) => [getConversationLineKey(line) ?? String(index), line]));
  return [...byKey.values()].filter((line): line is ConversationLineOf<Kind> => line.kind === kind);
}

function count(lines: readonly BotConversationLine[]) {
  const counter = createConversationCounter();
  for (const line of lines) counter.add(line);
  return counter.numbers();
}

const speech = (seconds: number, kind: string, startedSeconds?: number): Post => [
  seconds,
  seconds,
  'speech_event',
  {
    kind,
    timestamp: startSeconds + seconds,
    ...(startedSeconds === undefined ? {} : { started_at: startSeconds + startedSeconds }),
  },
];

describe('createPublishedLines', () => {
  it('converts the events of a genuine image to what the Python host recorded of the same call', () => {
    const lines = convertAll(genuine);
    const turns = latest(lines, 'turn').map(({ turn, from, released, interrupted = false }) => [
      turn,
      from,
      released ?? null,
      interrupted,
    ]);
    expect(turns).toEqual([
      [0, 1024, null, true],
      [1, 2643, 4995, true],
      [2, 5245, 7575, false],
    ]);
    const responses = latest(lines, 'response');
    expect(responses.map(({ turn, from, ms, measuredFrom }) => [turn, from, ms, measuredFrom])).toEqual([
      [0, 745, 286, 'connect'],
      [1, 4330, 778, 'silence'],
      [2, 6888, 806, 'silence'],
    ]);
    expect(responses[1]?.parts.map(({ stage, service, ms }) => `${stage} ${service ?? ''} ${ms}`)).toEqual([
      'endpointing  200',
      'transcription DeepgramSTTService#0 35',
      'turn-detection  443',
      expect.stringMatching(/^llm OpenAILLMService#0 \d+$/),
      expect.stringMatching(/^tts CartesiaTTSService#0 \d+$/),
      expect.stringMatching(/^output FastAPIWebsocketOutputTransport#0 \d+$/),
    ]);
    expect(latest(lines, 'tool')).toMatchObject([{ name: 'open_door', state: 'failed', from: 11_109, to: 11_144 }]);
    expect(count(lines)).toMatchObject({
      turns: 2,
      interruptions: 2,
      errors: 2,
      greetingMs: 286,
      tools: { calls: 1, failed: 1 },
      usage: expect.arrayContaining([
        expect.objectContaining({ role: 'llm', service: 'OpenAILLMService#0', model: 'gpt-4.1', totalTokens: 54 }),
      ]),
    });
    const services = latest(lines, 'services')[0]?.services;
    expect(services?.map(({ name, role }) => `${role} ${name}`)).toEqual([
      'llm OpenAILLMService#0',
      'tts CartesiaTTSService#0',
      'stt DeepgramSTTService#0',
    ]);
  });

  it('converts the same events in a process that continues after any line as in one process', () => {
    const expected = convertAll(genuine);
    for (let restart = 0; restart < genuine.length; restart++) {
      const before = createPublishedLines();
      const first = genuine.slice(0, restart).flatMap((post) => convertPost(before, post));
      const after = createPublishedLines();
      for (const line of first) after.record(line);
      expect([...first, ...genuine.slice(restart).flatMap((post) => convertPost(after, post))]).toEqual(expected);
    }
  });

  it('counts the same turns, interruptions and responses if events at the same time arrive in the opposite order', () => {
    const near = (post: Post) => Math.round(post[0] * 50);
    const swapped = [...genuine].sort((a, b) => near(a) - near(b) || genuine.indexOf(b) - genuine.indexOf(a));
    expect(swapped).not.toEqual(genuine);
    const numbers = count(convertAll(swapped));
    expect(numbers).toMatchObject({ turns: 2, interruptions: 2, errors: 2, tools: { calls: 1, failed: 1 } });
    expect(numbers.responses).toEqual(count(convertAll(genuine)).responses);
  });

  it('counts no interruption while the bot is silent', () => {
    const lines = convertAll([
      speech(1, 'bot_speech_started'),
      speech(2, 'bot_speech_stopped', 1),
      speech(3, 'user_turn_started'),
      speech(3, 'interruption'),
    ]);
    expect(count(lines)).toMatchObject({ turns: 1, interruptions: 0 });
  });

  it('measures the response from the release of the turn if the bot has no voice detection', () => {
    const lines = convertAll([
      speech(1, 'user_turn_started'),
      speech(3, 'user_turn_stopped', 1),
      speech(3.7, 'bot_speech_started'),
      speech(3.7, 'bot_speech_started'),
      speech(5, 'bot_speech_stopped', 3.7),
    ]);
    expect(latest(lines, 'response')).toMatchObject([{ turn: 1, from: 3_000, ms: 700, measuredFrom: 'release' }]);
    expect(latest(lines, 'turn')).toMatchObject([{ turn: 1, from: 1_000, released: 3_000, to: 5_000 }]);
    expect(latest(lines, 'speech')).toHaveLength(1);
  });

  it('records a tool that ends before it is known to run, and nothing after its end', () => {
    const call = { function_name: 'look', tool_call_id: 'call-1' };
    const event = (seconds: number, kind: string): Post => [
      seconds,
      seconds,
      'function_call_event',
      { ...call, kind: `function_call_${kind}`, timestamp: startSeconds + seconds },
    ];
    const lines = convertAll([event(2, 'timed_out'), event(1, 'in_progress'), event(2, 'cancelled')]);
    expect(lines).toMatchObject([{ kind: 'tool', state: 'timed-out', from: 2_000, to: 2_000 }]);
  });
});
