import { expect, test } from 'vitest';
import { parseLine } from './command-line.ts';
import { UsageError } from './failure.ts';
import { flag, loose, onOff, span } from './options.ts';

const expected = {
  arguments: { name: { description: 'a name' }, pairs: { description: 'pairs', optional: true, many: true } },
  options: {
    wait: loose(span({ description: 'how long' }, 3_600), 60),
    sets: onOff('sets', 's'),
    dry: flag('dry'),
  },
} as const;
const parse = (...args: string[]) => parseLine(args, new Set(), expected);

test('the last argument may take all words that are left, empty ones and ones like options after -- included', () => {
  expect(parse('one')).toMatchObject({ name: 'one', pairs: [] });
  expect(parse('one', 'A=1', '--dry', '', '--', '--B=2')).toMatchObject({ pairs: ['A=1', '', '--B=2'], dry: true });
});

test('an option whose value may be left out takes it after = only, and never the next word', () => {
  expect(parse('one')['wait']).toBeUndefined();
  expect(parse('one', '--wait', 'A=1')).toMatchObject({ wait: 60, pairs: ['A=1'] });
  expect(parse('one', '--wait=5s', 'A=1')).toMatchObject({ wait: 5, pairs: ['A=1'] });
  expect(() => parse('one', '--wait=soon')).toThrow(UsageError);
});

test('a switch may have a letter', () => {
  expect([parse('one')['sets'], parse('one', '-s')['sets'], parse('one', '--no-sets')['sets']]).toEqual([
    undefined,
    true,
    false,
  ]);
});
