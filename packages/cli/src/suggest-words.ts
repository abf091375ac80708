import type { Command } from './command-line/command.ts';
import type { Suggestion } from './command-line/context.ts';
import { globalOptions } from './command-line/global-options.ts';
import type { Option, Options, Words } from './command-line/options.ts';
import { leadingWords } from './command-line/parse-line.ts';
import { aliases, commands, groups } from './commands.ts';
import { wordsBelow } from './find-command.ts';

/**
 * What the last of the words of a line may become; it may be empty, and `botcli` itself is left out. No suggestion means that
 * anything will do, such as a file.
 */
export async function suggestWords(line: readonly string[]): Promise<readonly Suggestion[]> {
  const { before, current } = withoutEqualSigns(line);
  const place = placeOf(before);
  const command = place.kind === 'command' ? (await commands[place.path]?.())?.command : undefined;
  const options: Options = { ...globalOptions, ...command?.options };
  const all = await candidates({ before, current, place, command, options });
  return all.filter(({ word }) => word.startsWith(current));
}

type Asked = {
  readonly before: readonly string[];
  readonly current: string;
  readonly place: Place;
  readonly command: Command | undefined;
  readonly options: Options;
};

async function candidates(asked: Asked): Promise<readonly Suggestion[]> {
  const { before, current, place, command, options } = asked;
  const [, inline] = /^(--[^=]+)=/.exec(current) ?? [];
  if (inline !== undefined) {
    return (await valuesOf(optionCalled(inline, options))).map((value) => plain(`${inline}=${value}`));
  }
  const waiting = optionCalled(before.at(-1) ?? '', options);
  if (waiting?.kind === 'value' || waiting?.kind === 'values') return (await valuesOf(waiting)).map(plain);
  if (current.startsWith('-')) return optionsFor(options, before);
  if (command === undefined) return place.kind === 'group' ? below(place.path) : [];
  const argument = Object.values(command.arguments)[place.argument];
  return (await wordsOf(argument?.words)).map(plain);
}

/** Where the words lead, and, at a command, which of its arguments is being written, counted from 0. */
type Place = { readonly kind: 'command' | 'group' | 'nothing'; readonly path: string; readonly argument: number };

function placeOf(before: readonly string[]): Place {
  const words = leadingWords(before).map(({ text }) => text);
  let path = '';
  for (const [index, word] of words.entries()) {
    const next = path === '' ? word : `${path} ${word}`;
    const target = (Object.hasOwn(aliases, next) ? aliases[next] : undefined) ?? next;
    if (Object.hasOwn(commands, target)) return { kind: 'command', path: target, argument: words.length - index - 1 };
    if (!Object.hasOwn(groups, next)) return { kind: 'nothing', path: next, argument: 0 };
    path = next;
  }
  return { kind: 'group', path, argument: 0 };
}

async function below(path: string): Promise<readonly Suggestion[]> {
  const entries = wordsBelow(path).map(async (word) => {
    const place = path === '' ? word : `${path} ${word}`;
    return { word, meaning: groups[place] ?? (await commands[place]?.())?.command.summary ?? '' };
  });
  return Promise.all(entries);
}

/** Options that are not there yet, or may be there more than once. */
function optionsFor(options: Options, before: readonly string[]): readonly Suggestion[] {
  return Object.entries(options).flatMap(([name, option]) => {
    const names = option.kind === 'switch' ? [`--${name}`, `--no-${name}`] : [`--${name}`];
    const isThere = option.kind !== 'values' && names.some((one) => before.includes(one));
    return isThere ? [] : names.map((word) => ({ word, meaning: option.description }));
  });
}

function optionCalled(word: string, options: Options): Option | undefined {
  if (word.startsWith('--')) return Object.hasOwn(options, word.slice(2)) ? options[word.slice(2)] : undefined;
  if (!/^-[^-]$/.test(word)) return undefined;
  return Object.values(options).find(({ short }) => short === word.slice(1));
}

async function valuesOf(option: Option | undefined): Promise<readonly string[]> {
  return option !== undefined && 'words' in option ? wordsOf(option.words) : [];
}

async function wordsOf(words: Words | undefined): Promise<readonly string[]> {
  return typeof words === 'function' ? words() : (words ?? []);
}

function plain(word: string): Suggestion {
  return { word, meaning: '' };
}

/** Bash makes three words of `--name=value`. */
function withoutEqualSigns(line: readonly string[]): { readonly before: readonly string[]; readonly current: string } {
  const words = line.filter((word, index) => word !== '=' || index === line.length - 1);
  const last = words.at(-1) ?? '';
  return { before: words.slice(0, -1), current: last === '=' ? '' : last };
}
