import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { shellWord } from './shell-word.ts';

test.each(['/home/ada/my-bot', 'two words', '$(touch x)', '`id`', `it's "so"`, '$HOME', 'a;b', ''])(
  'a shell reads %j back as it was',
  (text) => {
    expect(execFileSync('sh', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' })).toBe(text);
  },
);
