import { expect, test } from 'vitest';
import { readEnvironmentVariableSettings } from '../config.ts';
import { createMessagePrinter } from './message-printer.ts';
import type { OutputMode } from './output-mode.ts';

function talkTo(mode: OutputMode, terminal: boolean, term = 'xterm') {
  let written = '';
  const write = (text: string) => {
    written += text;
  };
  const stderr = {
    isTerminal: terminal,
    columns: 20,
    closed: new AbortController().signal,
    write,
    writeBytes: async () => undefined,
  };
  const messages = createMessagePrinter(
    { stderr, environment: readEnvironmentVariableSettings({ HOME: '/', TERM: term }) },
    mode,
  );
  return { messages, written: () => written };
}

test('erases the status line before a message and restores it after the message', async () => {
  const { messages, written } = talkTo('rich', true);
  messages.status('Uploading');
  messages.notify('a line');
  messages.status('a status that is wider than the terminal');
  messages.status(null);
  await messages.show({ kind: 'note', lines: ['a block'] });
  const eraseLine = '\r\u001b[2K';
  expect(written().replaceAll('\u001b[2ma block\u001b[22m', 'a block')).toBe(
    `Uploading${eraseLine}a line\nUploading${eraseLine}a status that is wi${eraseLine}a block\n\n`,
  );
});

test.each([
  ['plain', true, 'xterm'],
  ['json', true, 'xterm'],
  ['rich', false, 'xterm'],
  ['rich', true, 'dumb'],
] as const)('shows no status line in the output mode %s (terminal: %s, TERM: %s)', (mode, terminal, term) => {
  const { messages, written } = talkTo(mode, terminal, term);
  messages.status('Uploading');
  messages.notify('a line');
  expect([messages.isLive, written()]).toEqual([false, 'a line\n']);
});
