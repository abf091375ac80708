import type { Command } from './command-line/command.ts';
import type { CompletionSuggestion } from './command-line/context.ts';
import { globalOptions } from './command-line/global-options.ts';
import type { CompletionWords, Option, Options } from './command-line/options.ts';
import { findPositionalWords } from './command-line/parse-line.ts';
import { commandAliases, commandGroups, commands } from './commands.ts';
import { listSubcommands } from './find-command.ts';

/**
 * Lists completions of the last word of `line`, which may be empty. `line` does not contain `botcli` itself. If the result is
 * empty, the shell completes file names instead.
 */
export async function suggestWords(line: readonly string[]): Promise<readonly CompletionSuggestion[]> {
  const { before, current } = joinBashWords(line);
  const position = findPosition(before);
  const command = position.kind === 'command' ? (await commands[position.path]?.())?.command : undefined;
  const options: Options = { ...globalOptions, ...command?.options };
  const all = await candidates({ before, current, position, command, options });
  return all.filter(({ word }) => word.startsWith(current));
}

type CompletionRequest = {
  readonly before: readonly string[];
  readonly current: string;
  readonly position: CommandPosition;
  readonly command: Command | undefined;
  readonly options: Options;
};

async function candidates(request: CompletionRequest): Promise<readonly CompletionSuggestion[]> {
  const { before, current, position, command, options } = request;
  const [, inline] = /^(--[^=]+)=/.exec(current) ?? [];
  if (inline !== undefined) {
    return (await optionValues(findOption(inline, options))).map((value) => toSuggestion(`${inline}=${value}`));
  }
  const pendingOption = findOption(before.at(-1) ?? '', options);
  if (pendingOption?.kind === 'value' || pendingOption?.kind === 'values')
    return (await optionValues(pendingOption)).map(toSuggestion);
  if (current.startsWith('-')) return suggestOptions(options, before);
  if (command === undefined) return position.kind === 'group' ? subcommands(position.path) : [];
  const argument = Object.values(command.arguments)[position.argument];
  return (await loadWords(argument?.words)).map(toSuggestion);
}

type CommandPosition = {
  readonly kind: 'command' | 'group' | 'nothing';
  readonly path: string;
  readonly argument: number;
};

function findPosition(before: readonly string[]): CommandPosition {
  const words = findPositionalWords(before).map(({ text }) => text);
  let path = '';
  for (const [index, word] of words.entries()) {
    const next = path === '' ? word : `${path} ${word}`;
    const target = (Object.hasOwn(commandAliases, next) ? commandAliases[next] : undefined) ?? next;
    if (Object.hasOwn(commands, target)) return { kind: 'command', path: target, argument: words.length - index - 1 };
    if (!Object.hasOwn(commandGroups, next)) return { kind: 'nothing', path: next, argument: 0 };
    path = next;
  }
  return { kind: 'group', path, argument: 0 };
}

async function subcommands(path: string): Promise<readonly CompletionSuggestion[]> {
  const entries = listSubcommands(path).map(async (word) => {
    const subcommandPath = path === '' ? word : `${path} ${word}`;
    return {
      word,
      description: commandGroups[subcommandPath] ?? (await commands[subcommandPath]?.())?.command.summary ?? '',
    };
  });
  return Promise.all(entries);
}

/** Suggests the options that are not on the command line yet, and all repeatable options. */
function suggestOptions(options: Options, before: readonly string[]): readonly CompletionSuggestion[] {
  return Object.entries(options).flatMap(([name, option]) => {
    const names = option.kind === 'switch' ? [`--${name}`, `--no-${name}`] : [`--${name}`];
    const isGiven = option.kind !== 'values' && names.some((one) => before.includes(one));
    return isGiven ? [] : names.map((word) => ({ word, description: option.description }));
  });
}

function findOption(word: string, options: Options): Option | undefined {
  if (word.startsWith('--')) return Object.hasOwn(options, word.slice(2)) ? options[word.slice(2)] : undefined;
  if (!/^-[^-]$/.test(word)) return undefined;
  return Object.values(options).find(({ short }) => short === word.slice(1));
}

async function optionValues(option: Option | undefined): Promise<readonly string[]> {
  return option !== undefined && 'words' in option ? loadWords(option.words) : [];
}

async function loadWords(words: CompletionWords | undefined): Promise<readonly string[]> {
  return typeof words === 'function' ? words() : (words ?? []);
}

function toSuggestion(word: string): CompletionSuggestion {
  return { word, description: '' };
}

/** Joins words that bash has split: it passes `--name=value` as three words. */
function joinBashWords(line: readonly string[]): { readonly before: readonly string[]; readonly current: string } {
  const words = line.filter((word, index) => word !== '=' || index === line.length - 1);
  const last = words.at(-1) ?? '';
  return { before: words.slice(0, -1), current: last === '=' ? '' : last };
}
