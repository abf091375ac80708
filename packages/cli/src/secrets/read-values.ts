import { maxSecretValueBytes } from '@bothost/contract';
import { parseEnvFile } from '@bothost/contract/env-file';
import {
  formatLocation,
  type KeyValuePair,
  type LocatedMessage,
  mergeParsedSecretsInputs,
  type ParsedSecretsInput,
} from '@bothost/contract/parsed-secrets-input';
import type { CommandContext } from '../command-line/context.ts';
import { Failure, UsageError } from '../failure.ts';
import { canPrompt } from '../io/confirm.ts';
import { type KeyArgument, parseKeyValueArguments } from './argument-pairs.ts';
import { findKeyProblems, findKeyWarnings, findValueProblems } from './check-pairs.ts';
import { decodeUtf8 } from './decode-utf8.ts';
import { parseJsonFile } from './json-file.ts';
import { readFileBytes, readStandardInput } from './read-bytes.ts';

export const fileFormats = ['env', 'json'] as const;
export type FileFormat = (typeof fileFormats)[number];

export type SecretValueInputs = {
  readonly pairs: readonly string[];
  readonly file: string | undefined;
  readonly format: FileFormat;
};

export type SecretValues = {
  readonly secrets: readonly { readonly secretKey: string; readonly secretValue: string }[];
  readonly skipped: readonly string[];
};

const maxFileBytes = 1_048_576;
const emptyResult: ParsedSecretsInput = { pairs: [], skipped: [], problems: [], warnings: [] };

/**
 * Reads values from arguments and files. Then prompts for a value of each key that was given without a value. Before the prompts,
 * throws one `Failure` with all problems, or prints all warnings. No message contains a value.
 */
export async function readSecretValues(context: CommandContext, inputs: SecretValueInputs): Promise<SecretValues> {
  if (inputs.pairs.length === 0 && inputs.file === undefined) {
    throw new UsageError('No keys were given.', 'Pass KEY=value, KEY (prompts for the value) or --file .env.');
  }
  const named = parseKeyValueArguments(inputs.pairs);
  requireTerminal(context, named.keys);
  const fromInput = named.keys.filter(({ source }) => source.kind === 'input');
  if (fromInput.length + (inputs.file === '-' ? 1 : 0) > 1) {
    throw new UsageError(
      'Standard input can be read only once.',
      'Use KEY=- for one value and KEY=@FILE for the others.',
    );
  }
  const parts = [
    { ...emptyResult, problems: named.problems, warnings: named.warnings },
    ...(inputs.file === undefined ? [] : [await readPairsFile(context, inputs.file, inputs.format)]),
  ];
  const read = [];
  for (const keyArgument of named.keys) read.push(await readKeyValue(context, keyArgument));
  const all = mergeParsedSecretsInputs([...parts, ...read]);
  const prompted = named.keys.filter(({ source }) => source.kind === 'prompt').map(toKey);
  const keys = [...all.pairs, ...all.skipped, ...prompted];
  requireNoProblems([...all.problems, ...findKeyProblems(keys), ...findValueProblems(all.pairs)]);
  for (const { where, message } of [...all.warnings, ...findKeyWarnings([...all.pairs, ...prompted])]) {
    context.warn(`${formatLocation(where)}: ${message}`);
  }
  if (named.keys.some(({ source }) => source.kind === 'literal')) context.warn(argumentWarning);
  const skipped = all.skipped.map(({ key }) => key);
  const answered = [];
  for (const { key, where } of prompted) answered.push({ key, where, value: await promptForValue(context, key) });
  const pairs = [...all.pairs, ...answered];
  if (pairs.length === 0) {
    const hint = inputs.file === undefined || inputs.file === '-' ? null : `Enter the values in ${inputs.file}.`;
    throw new Failure('no-values', 'None of the keys has a value. Nothing was sent.', hint);
  }
  requireNoProblems(findValueProblems(pairs));
  return { secrets: pairs.map(({ key, value }) => ({ secretKey: key, secretValue: value })), skipped };
}

const argumentWarning =
  "values in arguments stay in the shell's history and are visible in the process list; use KEY, KEY=-, KEY=@FILE or --file " +
  'instead';

function requireNoProblems(problems: readonly LocatedMessage[]): void {
  if (problems.length === 0) return;
  const found = problems.length === 1 ? 'One problem was' : `${problems.length} problems were`;
  const issues = problems.map(({ where, message }) => ({ path: formatLocation(where), message }));
  throw new Failure('values-refused', `${found} found in the keys and values. Nothing was sent.`, null, { issues });
}

function requireTerminal({ io }: CommandContext, keyArguments: readonly KeyArgument[]): void {
  const [first] = keyArguments.filter(({ source }) => source.kind === 'prompt');
  if (first === undefined || canPrompt(io)) return;
  throw new UsageError(
    // The message does not quote the argument, which may be a value without a key.
    `There is no = in ${first.argument}, and no terminal to prompt for the value.`,
    'Pass the value with --file, KEY=@FILE or KEY=- (standard input).',
  );
}

function toKey({ key, argument }: KeyArgument) {
  return { key, where: { source: argument, line: null } };
}

async function readPairsFile(context: CommandContext, file: string, format: FileFormat): Promise<ParsedSecretsInput> {
  const source = file === '-' ? 'standard input' : file;
  const bytes =
    file === '-' ? await readStandardInput(context, maxFileBytes) : await readFileBytes(context, file, maxFileBytes);
  if (bytes.byteLength > maxFileBytes) return tooLong(source, maxFileBytes);
  const decoded = decodeUtf8(bytes, source);
  if ('problems' in decoded) return { ...emptyResult, problems: decoded.problems };
  return format === 'json' ? parseJsonFile(decoded.text, source) : parseEnvFile(decoded.text, source);
}

/** Reads a value unchanged, including a line break at its end. */
async function readKeyValue(context: CommandContext, keyArgument: KeyArgument): Promise<ParsedSecretsInput> {
  const { source } = keyArgument;
  const one = toKey(keyArgument);
  if (source.kind === 'prompt') return emptyResult;
  if (source.kind === 'literal') return { ...emptyResult, pairs: [{ ...one, value: source.value }] };
  const isInput = source.kind === 'input';
  const place = isInput ? 'standard input' : source.path;
  const bytes = await (isInput
    ? readStandardInput(context, maxSecretValueBytes)
    : readFileBytes(context, source.path, maxSecretValueBytes, fileLabel(keyArgument)));
  if (bytes.byteLength > maxSecretValueBytes) return tooLong(place, maxSecretValueBytes);
  const decoded = decodeUtf8(bytes, place);
  if ('problems' in decoded) return { ...emptyResult, problems: decoded.problems };
  const where = { source: place, line: null };
  const pair: KeyValuePair = { key: keyArgument.key, value: decoded.text, where };
  const message = `${keyArgument.key}: the value ends with a line break, which is part of it`;
  const endsLine = /^[^\n]*\n$/.test(pair.value);
  return { ...emptyResult, pairs: [pair], warnings: endsLine ? [{ where, message }] : [] };
}

/** The label is shown instead of the path, because the path may be a secret value that begins with @. */
function fileLabel({ key, argument }: KeyArgument) {
  return {
    name: `the file in ${argument} for ${key}`,
    hint: `If the value itself begins with @, write ${key}='\\@...'`,
  };
}

function tooLong(source: string, limit: number): ParsedSecretsInput {
  const message = `the content is larger than the limit of ${limit} bytes`;
  return { ...emptyResult, problems: [{ where: { source, line: null }, message }] };
}

function promptForValue({ io }: CommandContext, key: string): Promise<string> {
  return io.prompter.secret(`Value of ${key}`);
}
