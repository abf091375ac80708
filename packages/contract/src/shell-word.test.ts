import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { quoteShellWord } from './shell-word.ts';

test.each(['/home/ada/my-bot', 'two words', '$(touch x)', '`id`', `it's "so"`, '$HOME', 'a;b', ''])(
  'quoteShellWord quotes %j so that a shell reads the same text',
  (text) => {
    expect(execFileSync('sh', ['-c', `printf %s ${quoteShellWord(text)}`], { encoding: 'utf8' })).toBe(text);
  },
);
