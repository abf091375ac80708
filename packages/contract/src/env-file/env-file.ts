import { secretSetKeyPattern, secretSetKeyRule } from '../limits.ts';
import type { KeyValuePair, LocatedMessage, ParsedSecretsInput } from './parsed-secrets-input.ts';
import { explainPythonDotenvDifference } from './python-dotenv.ts';
import { parseQuotedValue } from './quoted-value.ts';

const beforeKey = /^[ \t]*(?:export[ \t]+)?/;
const looksLikeAssignment = /^[ \t]*(?:export[ \t]+)?[A-Za-z0-9_-]{1,64}[ \t]*=/;
/** Matches a control character other than a tab. Must be applied to a line without its line ending. */
const controlCharacterExceptTab = /(?!\t)\p{Cc}/u;

/** Parses `KEY=value` lines and reports all problems. No message quotes a line, because it may contain a secret value. */
export function parseEnvFile(text: string, source: string): ParsedSecretsInput {
  const lines = text.replace(/^\u{feff}/u, '').split('\n');
  // The last line has no line feed, so a carriage return at its end is not part of a line ending.
  for (const [index, line] of lines.slice(0, -1).entries()) lines[index] = line.replace(/\r$/, '');
  const pairs: KeyValuePair[] = [];
  const skipped: ParsedSecretsInput['skipped'][number][] = [];
  const warnings: LocatedMessage[] = [];
  const problems: LocatedMessage[] = [];
  const add = (to: LocatedMessage[], at: number, message: string) =>
    to.push({ where: { source, line: at + 1 }, message });
  for (const [at, line] of lines.entries()) {
    if (controlCharacterExceptTab.test(line))
      add(problems, at, 'this line contains a control character, such as NUL or a CR that does not end a line');
  }
  const whole = lines.join('\n');
  const starts = lines.map(startAfterPrevious());
  let isAfterUnclosedQuote = false;
  let next = 0;
  while (next < lines.length) {
    const at = next;
    next += 1;
    const line = lines[at] ?? '';
    if (/^[ \t]*(?:#|$)/.test(line)) continue;
    // After an unclosed quote, skip lines that may be part of the quoted value.
    if (isAfterUnclosedQuote && !looksLikeAssignment.test(line)) continue;
    isAfterUnclosedQuote = false;
    const equals = line.indexOf('=');
    if (equals === -1) {
      add(problems, at, 'this line is not KEY=value, a comment or blank');
      continue;
    }
    const key = trimBlanks(line.slice(0, equals).replace(beforeKey, ''));
    const isKey = secretSetKeyPattern.test(key);
    if (!isKey) add(problems, at, `invalid key: ${secretSetKeyRule}`);
    const read = parseValue(lines, at, line.slice(equals + 1));
    next = at + read.lines;
    if ('problem' in read) {
      add(problems, at + read.lines - 1, read.problem);
      isAfterUnclosedQuote = read.isQuoted;
    }
    if ('problem' in read || !isKey) continue;
    const difference = explainPythonDotenvDifference(whole.slice((starts[at] ?? 0) + equals + 1), read.value);
    for (const warning of [...read.warnings, ...(difference === null ? [] : [difference])])
      add(warnings, at, `${key}: ${warning}`);
    const where = { source, line: at + 1 };
    if (read.value === '') skipped.push({ key, where });
    else pairs.push({ key, value: read.value, where });
  }
  return { pairs, skipped, warnings, problems: sortByLine(problems) };
}

/** Returns a function that maps each line to its index in the joined lines. */
function startAfterPrevious(): (line: string) => number {
  let end = 0;
  return (line) => {
    const start = end;
    end += line.length + 1;
    return start;
  };
}

/**
 * A parsed value, or the problem that prevented parsing it. `lines` is the number of lines that were read: the lines of the
 * value, or the lines up to the problem.
 */
type ParsedValue =
  | { readonly lines: number; readonly value: string; readonly warnings: readonly string[] }
  | { readonly lines: number; readonly problem: string; readonly isQuoted: boolean };

function parseValue(lines: readonly string[], at: number, rest: string): ParsedValue {
  const first = rest.replace(/^[ \t]+/, '');
  const quote = first[0];
  if (quote !== '"' && quote !== "'") return parseUnquoted(rest);
  const read = parseQuotedValue(lines, at, first, quote);
  if (read === null) {
    return { lines: 1, problem: 'unclosed quote', isQuoted: true };
  }
  if (!/^(?:[ \t]*|[ \t]+#.*)$/s.test(read.rest)) {
    const problem = 'only white space or a comment may follow the closing quote';
    return { lines: read.lines, problem, isQuoted: true };
  }
  return { lines: read.lines, value: read.value, warnings: read.warnings };
}

function parseUnquoted(rest: string): ParsedValue {
  if (/^[ \t]+#/.test(rest)) return { lines: 1, value: '', warnings: [] };
  if (/[ \t]#/.test(rest)) {
    const problem = 'white space and # in an unquoted value, which some tools read as a comment: quote the value';
    return { lines: 1, problem, isQuoted: false };
  }
  const value = trimBlanks(rest);
  const warnings = [
    ...(value.includes('#') ? ['some tools end the value at the #; quote it'] : []),
    ...(/["'`]/.test(value) ? ['the quotes in the value are part of it'] : []),
    ...(/^\s|\s$/u.test(value) ? ['the value begins or ends with white space other than spaces and tabs'] : []),
  ];
  return { lines: 1, value, warnings };
}

/** Removes spaces and tabs at both ends, in linear time. */
function trimBlanks(text: string): string {
  let end = text.length;
  while (end > 0 && ' \t'.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end).replace(/^[ \t]+/, '');
}

function sortByLine(problems: readonly LocatedMessage[]): readonly LocatedMessage[] {
  return problems.toSorted((one, other) => (one.where.line ?? 0) - (other.where.line ?? 0));
}
