import { secretKeyPattern } from '@bothost/contract';
import type { LocatedMessage } from './parse-result.ts';

/** Where the value of a key comes from. */
export type ValueSource =
  | { readonly kind: 'literal'; readonly value: string }
  | { readonly kind: 'input' }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'prompt' };

/** A key of the command line; `place` names its argument, as in `argument 2`. */
export type RequestedKey = { readonly key: string; readonly source: ValueSource; readonly place: string };

type ParsedArguments = {
  readonly keys: readonly RequestedKey[];
  readonly problems: readonly LocatedMessage[];
  readonly warnings: readonly LocatedMessage[];
};

/** A blank with what looks like another pair behind it. */
const anotherPair = /\s[A-Za-z0-9_-]{1,64}=/;
/** One of several pairs: its value in double quotes, or without any quote or blank. */
const chunk = /([A-Za-z0-9_-]{1,64})=(?:"([^"\\]*)"|([^\s"]*))(?: +|$)/y;

/**
 * Reads the arguments of `secrets set`. Each is one `KEY=value`, byte by byte; one that holds several pairs
 * (`A=1 B="two words"`) is taken apart where that can be done in one way only. Pure; all problems come at once, and none
 * shows anything of an argument but a key.
 */
export function parseArguments(given: readonly string[]): ParsedArguments {
  const keys: RequestedKey[] = [];
  const problems: LocatedMessage[] = [];
  const warnings: LocatedMessage[] = [];
  for (const [index, text] of given.entries()) {
    const place = `argument ${index + 1}`;
    const remark = (message: string): LocatedMessage => ({ where: { source: place, line: null }, message });
    const read = parseArgument(text);
    if ('problem' in read) problems.push(remark(read.problem));
    else keys.push(...read.map((one) => ({ ...one, place })));
    if (!('problem' in read) && read.length > 1) {
      warnings.push(remark(`was read as ${read.length} pairs: ${read.map(({ key }) => key).join(', ')}`));
    }
  }
  return { keys, problems, warnings };
}

type ArgumentKeys = readonly { readonly key: string; readonly source: ValueSource }[];

function parseArgument(text: string): ArgumentKeys | { readonly problem: string } {
  const equals = text.indexOf('=');
  const key = equals === -1 ? text : text.slice(0, equals);
  if (!secretKeyPattern.test(key)) {
    return { problem: 'is not KEY=value: a key is 1 to 64 letters, digits, underscores and hyphens' };
  }
  if (equals === -1) return [{ key, source: { kind: 'prompt' } }];
  const value = text.slice(equals + 1);
  // Node has put this in the place of bytes that it could not read.
  if (value.includes('\ufffd')) return { problem: notUtf8 };
  const several = anotherPair.test(value) ? parsePairs(text) : [];
  if (several === null) return { problem: severalWays };
  if (several.length > 1) return several;
  // With the quotes, and as a value that the quotes were meant to hold together, also what looks like a pair: nobody can tell.
  if (several.length === 1 || /^".*"$/s.test(value)) return { problem: inQuotes };
  if (value === '@') return { problem: 'has no file name after its @; for a literal @, put a backslash before it' };
  const source = parseSource(value);
  return source === null
    ? { problem: 'has an empty value; to remove a key: botcli cloud secrets unset' }
    : [{ key, source }];
}

const instead = 'give each pair as an argument of its own, or use --file, KEY=@FILE or KEY=-';
const notUtf8 = 'is not valid UTF-8, as a value must be: use --file, KEY=@FILE or KEY=-';
const severalWays = `can be read as one pair and as several: ${instead}`;
const inQuotes =
  'has a value in double quotes, which may or may not be part of it: leave them out, or use --file, KEY=@FILE or KEY=-';

/** Null when the text is not wholly made of pairs. */
function parsePairs(text: string): ArgumentKeys | null {
  const found: { key: string; source: ValueSource }[] = [];
  const trimmed = text.trimEnd();
  chunk.lastIndex = 0;
  while (chunk.lastIndex < trimmed.length) {
    const match = chunk.exec(trimmed);
    if (match === null) return null;
    const [, key = '', quoted, bare = ''] = match;
    const source = quoted === undefined ? parseSource(bare) : literal(quoted);
    if (source === null) return null;
    found.push({ key, source });
  }
  return found;
}

function parseSource(value: string): ValueSource | null {
  if (value === '-') return { kind: 'input' };
  if (value.startsWith('@')) return { kind: 'file', path: value.slice(1) };
  // A backslash takes the meaning from a leading @ or a lone -, and from such a backslash itself.
  return literal(/^\\+(?:@|-$)/.test(value) ? value.slice(1) : value);
}

function literal(value: string): ValueSource | null {
  return value === '' ? null : { kind: 'literal', value };
}
