import { conversationLimits } from '@bothost/contract';
import { expect, it } from 'vitest';
import { parseConversationLines } from './line-parser.ts';

const id = '0190a1b2-0000-7000-8000-000000000001';
const end = { kind: 'end', at: 5, reason: 'cancelled' };
const said = { kind: 'said', at: 5, turn: 1, side: 'user', text: 'My card is lost', from: 1, to: 4 };
const text = (...lines: readonly unknown[]) =>
  Buffer.from(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
const parse = (bytes: Buffer, level: 'timings' | 'transcript' = 'transcript', isInLongLine = false) =>
  parseConversationLines({ id, level }, bytes, isInLongLine);

it('parseConversationLines parses whole lines, and leaves the beginning of the next line', () => {
  const bytes = Buffer.concat([text(said, { ...end, sessionId: id }), Buffer.from('{"kind":"en')]);
  expect(parse(bytes)).toEqual({ lines: [said, end], usedBytes: bytes.length - 11, dropped: [], isInLongLine: false });
});

it('parseConversationLines keeps no text at the level timings, even if the bot writes it', () => {
  expect(parse(text(said, end), 'timings')).toMatchObject({ lines: [end], dropped: [] });
});

it.each([
  ['broken JSON', '{"kind":"end"'],
  ['a nesting of 10,000', '['.repeat(7_000) + ']'.repeat(7_000)],
  ['binary', '\u0000\u0001\ufffd'],
  ['a time in the year 9999', { ...end, at: 253_402_300_799_000 }],
  ['the id of another session', { ...end, sessionId: '0190a1b2-0000-7000-8000-000000000002' }],
  [
    'a line that only the service writes',
    { kind: 'dropped', at: 1, reason: 'invalid', lines: 1, bytes: 1, message: '' },
  ],
])('parseConversationLines drops and counts %s, and parses the next line', (_what, line) => {
  const bytes = text(line, end);
  const dropped = [{ reason: 'invalid', lines: 1, bytes: bytes.length - text(end).length }];
  expect(parse(bytes)).toEqual({ lines: [end], usedBytes: bytes.length, dropped, isInLongLine: false });
});

it('parseConversationLines keeps HTML as text', () => {
  const line = { ...said, text: '<script>alert(1)</script>' };
  expect(parse(text(line)).lines).toEqual([line]);
});

it('parseConversationLines drops a line that is too long, even if its end has not arrived yet', () => {
  const long = JSON.stringify({ ...said, text: 'x'.repeat(conversationLimits.lineBytes) });
  const first = parse(Buffer.from(long.slice(0, conversationLimits.lineBytes + 1)));
  expect(first).toEqual({
    lines: [],
    usedBytes: conversationLimits.lineBytes + 1,
    dropped: [{ reason: 'line-too-long', lines: 1, bytes: conversationLimits.lineBytes + 1 }],
    isInLongLine: true,
  });
  const rest = long.slice(conversationLimits.lineBytes + 1);
  const second = parse(text(rest, end), 'transcript', true);
  expect(second.lines).toEqual([end]);
  expect(second.dropped).toEqual([{ reason: 'line-too-long', lines: 0, bytes: rest.length + 1 }]);
});
