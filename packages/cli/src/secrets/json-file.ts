import { secretSetKeyPattern, secretSetKeyRule } from '@bothost/contract';
import type {
  KeyValuePair,
  LocatedMessage,
  ParsedSecretsInput,
  SourceLocation,
} from '@bothost/contract/parsed-secrets-input';

/** A JSON string, punctuation or bare word. The alternatives do not overlap, so matching takes linear time. */
const token = /[ \t\r\n]*(?:("[^"\\\n]*(?:\\.[^"\\\n]*)*")|([{}[\]:,])|([-\w.+]+))/y;

/**
 * Parses a JSON object whose values are strings. Keeps duplicate keys, which `JSON.parse` would drop. Reports either one
 * syntax error or all other problems.
 */
export function parseJsonFile(text: string, source: string): ParsedSecretsInput {
  const content = text.replace(/^\u{feff}/u, '');
  const pairs: KeyValuePair[] = [];
  const skipped: ParsedSecretsInput['skipped'][number][] = [];
  const problems: LocatedMessage[] = [];
  const lineOf = lineCounter(content);
  const whereOf = (index: number): SourceLocation => ({ source, line: lineOf(index) });
  if (!isObject(content)) {
    const message = 'the file is not a valid JSON object, such as {"KEY": "value"}';
    return { pairs, skipped, warnings: [], problems: [{ where: whereOf(findSyntaxError(content)), message }] };
  }
  for (const { key, value, index } of listMembers(content)) {
    const where = whereOf(index);
    if (!secretSetKeyPattern.test(key)) {
      problems.push({ where, message: `invalid key: ${secretSetKeyRule}` });
    } else if (value === null) problems.push({ where, message: `${key}: the value must be a string in quotes` });
    else if (value === '') skipped.push({ key, where });
    else pairs.push({ key, value, where });
  }
  return { pairs, skipped, warnings: [], problems };
}

/** Converts an index in `content` to a line number, starting at 1. Call it with ascending indexes. */
function lineCounter(content: string): (index: number) => number {
  let line = 1;
  let seen = 0;
  return (index) => {
    for (let at = content.indexOf('\n', seen); at !== -1 && at < index; at = content.indexOf('\n', seen)) {
      line += 1;
      seen = at + 1;
    }
    return line;
  };
}

function isObject(content: string): boolean {
  try {
    const value: unknown = JSON.parse(content);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

type Member = { readonly key: string; readonly value: string | null; readonly index: number };

/** Lists the members of the outermost object of valid JSON. A member that is not a string has the value null. */
function listMembers(content: string): readonly Member[] {
  const members: Member[] = [];
  let depth = 0;
  let key: { text: string; index: number } | null = null;
  for (const { text, index } of tokenize(content)) {
    if (depth === 1 && text.startsWith('"') && key === null) key = { text, index };
    else if (depth === 1 && key !== null && text !== ':') {
      const value = text.startsWith('"') ? parseString(text) : null;
      members.push({ key: parseString(key.text), value, index: key.index });
      key = null;
    }
    if (text === '{' || text === '[') depth += 1;
    if (text === '}' || text === ']') depth -= 1;
  }
  return members;
}

function parseString(literal: string): string {
  return String(JSON.parse(literal));
}

function* tokenize(content: string): Generator<{ readonly text: string; readonly index: number }> {
  token.lastIndex = 0;
  for (let match = token.exec(content); match !== null; match = token.exec(content)) {
    const text = match[1] ?? match[2] ?? match[3] ?? '';
    yield { text, index: token.lastIndex - text.length };
  }
}

/** Returns the approximate position of a syntax error: the text before this position consists of JSON tokens only. */
function findSyntaxError(content: string): number {
  let end = 0;
  for (const { text, index } of tokenize(content)) end = index + text.length;
  return end;
}
