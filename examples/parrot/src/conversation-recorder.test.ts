import { expect, test } from 'vitest';
import { createConversationRecorder } from './conversation-recorder.ts';
import type { JsonObject } from './http-exchange.ts';

function record(level = 'transcript') {
  const lines: JsonObject[] = [];
  let time = 1_000;
  const recorder = createConversationRecorder({
    file: { append: (line) => lines.push(line), close: () => {} },
    level,
    startedAtMs: 1_000,
    now: () => time,
  });
  const pass = (ms: number) => {
    time += ms;
  };
  const of = (kind: string) => lines.filter((line) => line['kind'] === kind);
  const lastTurns = () => [...new Map(of('turn').map((line) => [line['turn'], line])).values()];
  return { recorder, lines, pass, of, lastTurns };
}

function greet({ recorder, pass }: ReturnType<typeof record>): void {
  recorder.clientConnected();
  recorder.botSays('Hello!', true);
  pass(10);
  recorder.botStarted();
  pass(500);
  recorder.botStopped(1, false);
}

test('the recorder writes a greeting as turn 0, and the first words of the user as turn 1', () => {
  const call = record();
  greet(call);
  call.pass(400);
  call.recorder.userStarted(100);
  call.pass(1_000);
  call.recorder.userStopped(700);
  expect(call.of('said')).toEqual([
    { kind: 'said', at: 510, turn: 0, side: 'bot', text: 'Hello!', from: 10, to: 510, interrupted: false },
  ]);
  expect(call.lastTurns()).toMatchObject([
    { turn: 0, from: 0, to: 510 },
    { turn: 1, from: 810, released: 1_910, to: null },
  ]);
  expect(call.of('speech').at(-1)).toMatchObject({ side: 'user', from: 810, to: 1_210, turn: 1 });
});

test('the recorder measures a response from the silence of the user, with parts that add up to it', () => {
  const call = record();
  greet(call);
  call.recorder.userStarted(0);
  call.pass(1_000);
  call.recorder.userStopped(700);
  call.recorder.botSays('I heard you', true);
  call.pass(5);
  call.recorder.botStarted();
  expect(call.of('response')).toMatchObject([
    { turn: 0, ms: 10, measuredFrom: 'connect', parts: [{ stage: 'tts', ms: 10 }] },
    { turn: 1, from: 810, ms: 705, measuredFrom: 'silence', parts: [{ stage: 'endpointing', ms: 700 }, { ms: 5 }] },
  ]);
});

test('the recorder writes the words that were spoken before an interruption, and marks the turn', () => {
  const call = record();
  greet(call);
  call.recorder.userTyped('one two three four');
  call.recorder.botSays('Rraawk! one two three four', true);
  call.recorder.botStarted();
  call.pass(600);
  call.recorder.botStopped(0.7, true);
  call.recorder.userStarted(120);
  expect(call.of('said').slice(1)).toMatchObject([
    { turn: 1, side: 'user', text: 'one two three four', typed: true },
    { turn: 1, side: 'bot', text: 'Rraawk! one two', interrupted: true },
  ]);
  expect(call.lastTurns()).toMatchObject([
    { turn: 0, interrupted: false },
    { turn: 1, interrupted: true, to: 990 },
    { turn: 2, from: 990, to: null },
  ]);
});

test('the recorder writes text that is not spoken at once, and answers a text that did not interrupt in its own turn', () => {
  const call = record();
  call.recorder.userTyped('first');
  call.recorder.botSays('first answer', true);
  call.recorder.botStarted();
  call.pass(50);
  call.recorder.userTyped('second');
  call.recorder.botSays('second answer', true);
  call.pass(50);
  call.recorder.botStopped(1, false);
  call.recorder.userTyped('third');
  call.recorder.botSays('third answer', false);
  const said = call.of('said').map(({ turn, side, text }) => `${turn} ${side}: ${text}`);
  expect(said).toEqual([
    '1 user: first',
    '1 bot: first answer',
    '2 user: second',
    '2 bot: second answer',
    '3 user: third',
    '3 bot: third answer',
  ]);
});

test('the recorder writes no text at the level timings', () => {
  const call = record('timings');
  greet(call);
  call.recorder.userTyped('my secret');
  call.recorder.end('client-disconnected');
  expect(JSON.stringify(call.lines)).not.toMatch(/Hello|secret/);
  expect(call.lines.map(({ kind }) => kind)).toContain('response');
});

test('the recorder ends running speech and the turn at the end, and writes nothing after it', () => {
  const call = record();
  call.recorder.userStarted(0);
  call.pass(300);
  call.recorder.end('client-disconnected');
  call.recorder.end('stopped');
  call.recorder.userTyped('late');
  expect(call.lines.slice(-3)).toEqual([
    { kind: 'speech', at: 300, side: 'user', from: 0, to: 300, turn: 1 },
    { kind: 'turn', at: 300, turn: 1, from: 0, released: null, to: 300, interrupted: false },
    { kind: 'end', at: 300, reason: 'client-disconnected' },
  ]);
});
