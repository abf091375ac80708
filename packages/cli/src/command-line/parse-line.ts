import { type ParseArgsConfig, parseArgs } from 'node:util';
import { findClosestWord } from '@bothost/contract/find-closest-word';
import { UsageError } from '../failure.ts';
import type { PositionalArguments } from './command.ts';
import { globalOptions } from './global-options.ts';
import type { Option, Options } from './options.ts';

export type PositionalWord = { readonly text: string; readonly index: number };

type Token = NonNullable<ReturnType<typeof tokenize>>[number];

/** Finds the words that can name a command. Skips all options, because only the command determines which are valid. */
export function findPositionalWords(args: readonly string[]): readonly PositionalWord[] {
  const words: PositionalWord[] = [];
  for (const token of tokenize(args, globalOptions)) {
    if (token.kind === 'option-terminator') break;
    if (token.kind === 'positional') words.push({ text: token.value, index: token.index });
  }
  return words;
}

/**
 * Returns whether a global flag is given, even if the command line is invalid. The command's `options` are needed to distinguish
 * flags from values: `-fhello.env` does not contain `-h`.
 */
export function hasGlobalFlag(
  args: readonly string[],
  name: keyof typeof globalOptions,
  options: Options = {},
): boolean {
  const known: Options = { ...globalOptions, ...options };
  const tokens = tokenize(args, known).filter((token) => token.kind === 'option');
  const garbled = tokens.filter((token) => !Object.hasOwn(known, token.name) && !token.rawName.startsWith('--'));
  return tokens.some((token) => token.name === name && garbled.every(({ index }) => index !== token.index));
}

/**
 * Returns the last value of a global option without validating the command line, so that errors of an invalid command line are
 * printed in the mode that `--output` names. Returns null if the option is not given.
 */
export function readRawOption(args: readonly string[], name: keyof typeof globalOptions): string | null {
  let value: string | null = null;
  for (const token of tokenize(args, globalOptions)) {
    if (token.kind === 'option' && token.name === name) value = token.value ?? null;
  }
  return value;
}

/** Parses a command's options and arguments. `wordIndexes` are the positions of the words that name it. Throws a `UsageError`. */
export function parseCommandLine(
  args: readonly string[],
  wordIndexes: ReadonlySet<number>,
  expected: { readonly arguments: PositionalArguments; readonly options: Options },
): Readonly<Record<string, unknown>> {
  const rest = args.filter((_, index) => !wordIndexes.has(index));
  const options: Options = { ...globalOptions, ...expected.options };
  const values: Record<string, unknown> = {};
  const positionals: string[] = [];
  for (const [name, option] of Object.entries(options)) values[name] = initialValues[option.kind];
  for (const token of tokenize(rest, options)) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const name = findNegatedSwitch(token.name, options) ?? token.name;
    const value = optionValue(token, options);
    const previous = values[name];
    if (options[name]?.kind === 'values') values[name] = [...(Array.isArray(previous) ? previous : []), value];
    else values[name] = requireSingleValue(name, options[name], previous, value);
  }
  return { ...values, ...argumentValues(positionals, expected.arguments) };
}

const initialValues: Readonly<Record<Option['kind'], unknown>> = {
  flag: false,
  switch: undefined,
  value: undefined,
  'optional-value': undefined,
  values: [],
};

/**
 * Throws a `UsageError` if an option that takes one value is given twice, even with equal values, because it is unclear which
 * value the user wants. Flags can be repeated.
 */
function requireSingleValue(name: string, option: Option | undefined, previous: unknown, value: unknown): unknown {
  if (previous === initialValues[option?.kind ?? 'flag'] || option?.kind === 'flag') return value;
  if (option?.kind !== 'switch') throw new UsageError(`--${name} was given more than once; it takes one value.`);
  if (previous !== value) throw new UsageError(`--${name} and --no-${name} cannot be used together.`);
  return value;
}

/**
 * Returns NAME if `name` is `no-NAME`, the negative form of an option NAME of kind `switch`. Otherwise returns null, also if an
 * option is itself called `no-NAME`.
 */
function findNegatedSwitch(name: string, options: Options): string | null {
  const positive = name.startsWith('no-') && !Object.hasOwn(options, name) ? name.slice(3) : '';
  return options[positive]?.kind === 'switch' ? positive : null;
}

export function requireMandatoryValues(
  values: Readonly<Record<string, unknown>>,
  expected: { readonly arguments: PositionalArguments; readonly options: Options },
  usage: string,
): void {
  for (const [name, { description, optional }] of Object.entries(expected.arguments)) {
    const value = values[name];
    const isMissing = value === undefined || (Array.isArray(value) && value.length === 0);
    if (isMissing && optional !== true) {
      throw new UsageError(`${name.toUpperCase()} is missing: ${description}.`, `Usage: ${usage}`);
    }
  }
  for (const [name, option] of Object.entries(expected.options)) {
    if (option.kind === 'value' && option.required && values[name] === undefined) {
      throw new UsageError(`--${name} is missing: ${option.description}.`, `Usage: ${usage}`);
    }
  }
}

function argumentValues(
  positionals: readonly string[],
  expected: PositionalArguments,
): Readonly<Record<string, string | readonly string[]>> {
  const names = Object.keys(expected);
  const takesRest = Object.values(expected).at(-1)?.many === true;
  if (!takesRest && positionals.length > names.length) {
    // The error does not quote the extra word, because the word may be a password or a secret value.
    const last = names.at(-1)?.toUpperCase();
    throw new UsageError(
      last === undefined ? 'The command takes no arguments.' : `Too many arguments. ${last} must be the last argument.`,
    );
  }
  const values: Record<string, string | readonly string[]> = {};
  for (const [index, name] of names.entries()) {
    if (expected[name]?.many === true) {
      values[name] = positionals.slice(index);
      continue;
    }
    const value = positionals[index];
    if (value === '') throw new UsageError(`${name.toUpperCase()} is empty.`);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

function optionValue(token: Extract<Token, { kind: 'option' }>, options: Options): unknown {
  const off = findNegatedSwitch(token.name, options);
  const name = off ?? token.name;
  const option = Object.hasOwn(options, name) ? options[name] : undefined;
  if (option === undefined) throw unknownOptionError(token.rawName, options);
  if (option.kind === 'flag' || option.kind === 'switch') {
    if (token.value !== undefined) throw new UsageError(`${token.rawName} takes no value.`);
    return off === null;
  }
  const { value } = token;
  if (value === undefined && option.kind === 'optional-value') return option.defaultValue;
  if (value === undefined) throw new UsageError(`${token.rawName} needs a value: ${option.description}.`);
  if (!token.inlineValue && /^-./.test(value)) {
    throw new UsageError(
      `${token.rawName} needs a value, but ${JSON.stringify(value)} looks like an option.`,
      `If ${value} is the value of --${token.name}, write --${token.name}=${value}.`,
    );
  }
  try {
    return option.read(value);
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${token.rawName} ${error.message}.`, error.hint);
    throw error;
  }
}

/** The error quotes `rawName` only if it looks like an option, because other text may be a secret, such as a PEM key. */
function unknownOptionError(rawName: string, options: Options): UsageError {
  if (!/^-{1,2}[a-z][a-z-]{0,39}$/i.test(rawName)) {
    return new UsageError(
      'An argument begins with a hyphen but is not a valid option.',
      'To pass an argument that begins with a hyphen, write -- before it.',
    );
  }
  const meant = findClosestWord(
    rawName,
    Object.keys(options).map((name) => `--${name}`),
  );
  return new UsageError(`Unknown option ${rawName}.`, meant === null ? null : `Did you mean ${meant}?`);
}

function tokenize(args: readonly string[], options: Options) {
  const config: ParseArgsConfig['options'] = {};
  for (const [name, option] of Object.entries(options)) {
    config[name] = toParserOption(option);
    if (option.kind === 'switch') config[`no-${name}`] = { type: 'boolean' };
  }
  const parsed = parseArgs({ args: [...args], options: config, strict: false, allowPositionals: true, tokens: true });
  return parsed.tokens;
}

function toParserOption(option: Option): { type: 'string' | 'boolean'; short?: string } {
  // Declare an option with an optional value as `boolean`, so that the parser does not take the next word as the value.
  const type = option.kind === 'value' || option.kind === 'values' ? 'string' : 'boolean';
  return option.short === undefined ? { type } : { type, short: option.short };
}
