import { expect, test } from 'vitest';
import { readEnvironment } from '../config.ts';
import type { OutputMode } from './output-mode.ts';
import { createTalk } from './talk.ts';

function talkTo(mode: OutputMode, terminal: boolean, term = 'xterm') {
  let written = '';
  const write = (text: string) => {
    written += text;
  };
  const stderr = { terminal, columns: 20, closed: new AbortController().signal, write };
  const talk = createTalk({ stderr, environment: readEnvironment({ HOME: '/', TERM: term }) }, mode);
  return { talk, written: () => written };
}

test('the status is one line, taken away for what stays and put back after it', async () => {
  const { talk, written } = talkTo('rich', true);
  talk.status('Uploading');
  talk.say('a line');
  talk.status('a status that is wider than the terminal');
  talk.status(null);
  await talk.show({ kind: 'note', lines: ['a block'] });
  const away = '\r\u001b[2K';
  expect(written().replaceAll('\u001b[2ma block\u001b[22m', 'a block')).toBe(
    `Uploading${away}a line\nUploading${away}a status that is wi${away}a block\n\n`,
  );
});

test.each([
  ['plain', true, 'xterm'],
  ['json', true, 'xterm'],
  ['rich', false, 'xterm'],
  ['rich', true, 'dumb'],
] as const)('there is no status in mode %s, terminal %s, of kind %s', (mode, terminal, term) => {
  const { talk, written } = talkTo(mode, terminal, term);
  talk.status('Uploading');
  talk.say('a line');
  expect([talk.isLive, written()]).toEqual([false, 'a line\n']);
});
