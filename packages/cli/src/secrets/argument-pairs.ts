import { secretSetKeyPattern } from '@bothost/contract';
import type { LocatedMessage } from '@bothost/contract/parsed-secrets-input';

export type SecretValueSource =
  | { readonly kind: 'literal'; readonly value: string }
  | { readonly kind: 'input' }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'prompt' };

/** A key that was given on the command line. `argument` is the key's position for messages, for example `argument 2`. */
export type KeyArgument = { readonly key: string; readonly source: SecretValueSource; readonly argument: string };

type ParsedArguments = {
  readonly keys: readonly KeyArgument[];
  readonly problems: readonly LocatedMessage[];
  readonly warnings: readonly LocatedMessage[];
};

/** Matches white space followed by `KEY=`, the possible start of a second pair in the same argument. */
const anotherPair = /\s[A-Za-z0-9_-]{1,64}=/;
/** Matches a `KEY=value` pair whose value is in double quotes, or contains neither quotes nor white space. */
const pair = /([A-Za-z0-9_-]{1,64})=(?:"([^"\\]*)"|([^\s"]*))(?: +|$)/y;

/**
 * Parses the arguments of `secrets set`. An argument is either a single `KEY=value` pair, whose value is kept unchanged, or
 * several pairs. In several pairs, such as `A=1 B="x y"`, the quotes are not part of the values. An argument that can be read
 * in both ways is reported as a problem. No message contains a value.
 */
export function parseKeyValueArguments(args: readonly string[]): ParsedArguments {
  const keys: KeyArgument[] = [];
  const problems: LocatedMessage[] = [];
  const warnings: LocatedMessage[] = [];
  for (const [index, text] of args.entries()) {
    const argument = `argument ${index + 1}`;
    const located = (message: string): LocatedMessage => ({ where: { source: argument, line: null }, message });
    const read = parseArgument(text);
    if ('problem' in read) problems.push(located(read.problem));
    else keys.push(...read.map((one) => ({ ...one, argument })));
    if (!('problem' in read) && read.length > 1) {
      warnings.push(located(`was parsed as ${read.length} pairs: ${read.map(({ key }) => key).join(', ')}`));
    }
  }
  return { keys, problems, warnings };
}

type ArgumentKeys = readonly { readonly key: string; readonly source: SecretValueSource }[];

function parseArgument(text: string): ArgumentKeys | { readonly problem: string } {
  const equals = text.indexOf('=');
  const key = equals === -1 ? text : text.slice(0, equals);
  if (!secretSetKeyPattern.test(key)) {
    return { problem: 'is not KEY=value; a key is 1 to 64 letters, digits, underscores and hyphens' };
  }
  if (equals === -1) return [{ key, source: { kind: 'prompt' } }];
  const value = text.slice(equals + 1);
  // U+FFFD means that the argument was not valid UTF-8, because Node replaces invalid bytes with this character.
  if (value.includes('\ufffd')) return { problem: notUtf8 };
  const isQuoted = /^".*"$/s.test(value);
  if (isQuoted || anotherPair.test(value)) return parsePairs(text) ?? { problem: isQuoted ? quotesInside : ambiguous };
  if (value === '@') return { problem: 'has no file name after its @; for a literal @, put a backslash before it' };
  const source = parseSource(value);
  return source === null
    ? { problem: 'has an empty value; to remove a key: botcli cloud secrets unset' }
    : [{ key, source }];
}

const instead = 'give each pair as an argument of its own, or use --file, KEY=@FILE or KEY=-';
const notUtf8 = 'is not valid UTF-8, as a value must be: use --file, KEY=@FILE or KEY=-';
const ambiguous = `can be read as one pair and as several: ${instead}`;
const quotesInside =
  'has a quoted value that is empty, or contains a double quote or a backslash: use --file, KEY=@FILE or KEY=-';

/** Parses an argument that is a sequence of pairs. Returns null for any other argument. */
function parsePairs(text: string): ArgumentKeys | null {
  const values: { key: string; source: SecretValueSource }[] = [];
  const trimmed = text.trimEnd();
  pair.lastIndex = 0;
  while (pair.lastIndex < trimmed.length) {
    const match = pair.exec(trimmed);
    if (match === null) return null;
    const [, key = '', quoted, bare = ''] = match;
    const source = quoted === undefined ? parseSource(bare) : literal(quoted);
    if (source === null) return null;
    values.push({ key, source });
  }
  return values;
}

function parseSource(value: string): SecretValueSource | null {
  if (value === '-') return { kind: 'input' };
  if (value.startsWith('@')) return { kind: 'file', path: value.slice(1) };
  // Remove one leading backslash, which escapes an @ or the value "-". Any further backslashes are part of the value.
  return literal(/^\\+(?:@|-$)/.test(value) ? value.slice(1) : value);
}

function literal(value: string): SecretValueSource | null {
  return value === '' ? null : { kind: 'literal', value };
}
