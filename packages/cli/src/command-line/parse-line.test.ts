import { expect, test } from 'vitest';
import { commands } from '../commands.ts';
import { UsageError } from '../failure.ts';
import {
  durationOption,
  flagOption,
  optionalValueOption,
  repeatedOption,
  switchOption,
  textOption,
} from './options.ts';
import { parseCommandLine } from './parse-line.ts';

const expected = {
  arguments: { name: { description: 'a name' }, pairs: { description: 'pairs', optional: true, many: true } },
  options: {
    wait: optionalValueOption(durationOption({ description: 'how long' }, 3_600), 60),
    sets: switchOption('sets', 's'),
    dry: flagOption('dry'),
    file: textOption({ description: 'file', short: 'f' }),
    to: repeatedOption(textOption({ description: 'to' })),
  },
} as const;
const parse = (...args: string[]) => parseCommandLine(args, new Set(), expected);

test('an argument with `many` receives all remaining words, including empty words and words after --', () => {
  expect(parse('one')).toMatchObject({ name: 'one', pairs: [] });
  expect(parse('one', 'A=1', '--dry', '', '--', '--B=2')).toMatchObject({ pairs: ['A=1', '', '--B=2'], dry: true });
});

test('reads the value of an option with an optional value only after =, never from the next word', () => {
  expect(parse('one')['wait']).toBeUndefined();
  expect(parse('one', '--wait', 'A=1')).toMatchObject({ wait: 60, pairs: ['A=1'] });
  expect(parse('one', '--wait=5s', 'A=1')).toMatchObject({ wait: 5, pairs: ['A=1'] });
  expect(() => parse('one', '--wait=soon')).toThrow(UsageError);
});

test('parses a switch option as true for its short form, false for --no-NAME, and undefined if omitted', () => {
  expect([parse('one')['sets'], parse('one', '-s')['sets'], parse('one', '--no-sets')['sets']]).toEqual([
    undefined,
    true,
    false,
  ]);
});

test.each([
  ['--file', ['--file', 'a', '--file', 'b']],
  ['--file', ['-fa', '--file=a']],
  ['--wait', ['--wait', '--wait=5s']],
  ['--output', ['--output', 'json', '--output', 'plain']],
  ['--organization', ['-o', 'one', '-o', 'two']],
])('rejects a second value of the single-value option %s in the words %j', (name, args) => {
  expect(() => parse('one', ...args)).toThrow(new UsageError(`${name} was given more than once; it takes one value.`));
});

test('accepts a flag more than once, and several values of a repeatable option', () => {
  expect(parse('one', '--to', 'a', '--to', 'a')).toMatchObject({ to: ['a', 'a'] });
  expect(parse('one', '--dry', '--dry', '-s', '--sets')).toMatchObject({ dry: true, sets: true });
  expect(() => parse('one', '--sets', '--no-sets')).toThrow(
    new UsageError('--sets and --no-sets cannot be used together.'),
  );
});

test('rejects a second value for every single-value option of every command', async () => {
  let tried = 0;
  for (const load of Object.values(commands)) {
    const { command } = await load();
    for (const [name, option] of Object.entries(command.options)) {
      if (option.kind !== 'value' && option.kind !== 'optional-value') continue;
      const anything: typeof option = { ...option, read: (given: string) => given };
      const options = { ...command.options, [name]: anything };
      const twice = [`--${name}=1`, `--${name}=2`];
      expect(() => parseCommandLine(twice, new Set(), { arguments: {}, options })).toThrow(
        `--${name} was given more than once`,
      );
      tried += 1;
    }
  }
  expect(tried).toBeGreaterThan(50);
});
