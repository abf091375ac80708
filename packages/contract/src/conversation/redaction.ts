import { z } from 'zod';

/** What a bot removes from texts before it writes them to its conversation file (docs/conversations.md, "Redaction"). */
const builtInRedactions = ['card', 'iban', 'email', 'phone'] as const;

/** The header of `POST /bot` and of the WebSocket of `/ws` with the rules as a JSON array, in ASCII. Missing without rules. */
export const conversationRedactionHeader = 'bothost-conversation-redact';

/** `totalCharacters` bounds the header, of which some servers read 8 KiB. A character takes up to six in it. */
const limits = { rules: 20, ruleCharacters: 200, totalCharacters: 1_000 } as const;
/** Largest product of the numbers of repetitions that a search may try. An unbounded repetition counts as 1,000. */
const maxChoices = 1_000_000;
const unboundedChoices = 1_000;

/** Rules of an agent: names of built-in ones, and regular expressions between slashes. */
export const ConversationRedaction = z
  .array(z.string().max(limits.ruleCharacters))
  .max(limits.rules)
  .superRefine((rules, context) => {
    for (const [index, rule] of rules.entries()) {
      const problem = findRuleProblem(rule);
      if (problem !== null) context.addIssue({ code: 'custom', path: [index], message: `"${rule}": ${problem}` });
    }
    const characters = rules.reduce((sum, rule) => sum + rule.length, 0);
    if (characters > limits.totalCharacters)
      context.addIssue({ code: 'custom', message: `use at most ${limits.totalCharacters} characters in all` });
  });

function findRuleProblem(rule: string): string | null {
  if (builtInRedactions.some((name) => name === rule)) return null;
  if (!/^\/.+\/$/su.test(rule))
    return `use ${builtInRedactions.join(', ')}, or a regular expression between slashes, such as /C-[0-9]{6}/`;
  return findPatternProblem(rule.slice(1, -1));
}

/**
 * Says what is wrong with a regular expression, or returns null. Allows only what Python, JavaScript and RE2 read in the same way,
 * and what cannot take exponential time: no look-around, back-references, named groups or flags, and no unbounded repetition of a
 * group that contains a repetition or alternatives.
 */
function findPatternProblem(pattern: string): string | null {
  const parser = { pattern, at: 0 };
  try {
    const { choices, minLength } = readAlternatives(parser);
    if (parser.at < pattern.length) return `")" without "(" at character ${parser.at + 1}`;
    new RegExp(pattern, 'u');
    if (minLength === 0) return 'it matches the empty text';
    if (choices > maxChoices)
      return 'it may take too long: use fewer repetitions, or limit them, as in {1,20} instead of + or *';
    return null;
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    return 'it is not a valid regular expression';
  }
}

class PatternError extends Error {}

type Parser = { readonly pattern: string; at: number };
/** `choices`: how many ways there are to match at one position, at most. `minLength`: characters of the shortest match. */
type Part = { readonly choices: number; readonly minLength: number };

function readAlternatives(parser: Parser): Part {
  const alternatives = [readSequence(parser)];
  while (parser.pattern[parser.at] === '|') {
    parser.at += 1;
    alternatives.push(readSequence(parser));
  }
  return {
    choices: alternatives.reduce((sum, { choices }) => sum + choices, 0),
    minLength: Math.min(...alternatives.map(({ minLength }) => minLength)),
  };
}

function readSequence(parser: Parser): Part {
  let choices = 1;
  let minLength = 0;
  while (parser.at < parser.pattern.length && !'|)'.includes(parser.pattern[parser.at] ?? '')) {
    const part = readRepeated(parser);
    choices *= part.choices;
    minLength += part.minLength;
  }
  return { choices, minLength };
}

function readRepeated(parser: Parser): Part {
  const part = readAtom(parser);
  const found = /^(?:[*+?]|\{(\d{1,3})(,(\d{1,3})?)?\})\??/.exec(parser.pattern.slice(parser.at));
  if (found === null) {
    if (parser.pattern[parser.at] === '{') throw new PatternError('"{" that does not repeat must be written as \\{');
    return part;
  }
  parser.at += found[0].length;
  if (/^[*+?{]/.test(parser.pattern.slice(parser.at))) throw new PatternError('a repetition is repeated');
  const [, least, comma, most] = found;
  const symbol = found[0][0];
  const minimum = least === undefined ? (symbol === '+' ? 1 : 0) : Number(least);
  const maximum =
    symbol === '?'
      ? 1
      : symbol !== '{' || (comma !== undefined && most === undefined)
        ? Infinity
        : Number(most ?? least);
  if (maximum < minimum) throw new PatternError('the limits of a repetition are in the wrong order');
  if (maximum === Infinity && (part.choices > 1 || part.minLength === 0))
    throw new PatternError('it may take too long: "+", "*" or {n,} after a group that repeats or has alternatives');
  const counts = maximum === Infinity ? unboundedChoices : maximum - minimum + 1;
  return { choices: part.choices ** Math.min(maximum, 1_000) * counts, minLength: part.minLength * minimum };
}

function readAtom(parser: Parser): Part {
  const rest = parser.pattern.slice(parser.at);
  const token = /^(?:\[\^?\]?(?:\\.|[^\\\]])*\]|\\.|\((?:\?:)?|[\s\S])/u.exec(rest)?.[0] ?? '';
  parser.at += token.length;
  if (token.startsWith('(')) {
    if (parser.pattern[parser.at] === '?')
      throw new PatternError('look-around, named groups and flags are not supported: use (...) or (?:...)');
    const part = readAlternatives(parser);
    if (parser.pattern[parser.at] !== ')') throw new PatternError('"(" without ")"');
    parser.at += 1;
    return part;
  }
  if (token.length === 1 && '*+?{'.includes(token)) throw new PatternError(`"${token}" has nothing to repeat`);
  if (token.startsWith('[')) {
    if (token.length === 1) throw new PatternError('"[" without "]"');
    if (/^\[\^?\]/.test(token) || /[[]|--|&&|~~|\|\|/.test(token.slice(1).replaceAll(/\\./g, '')))
      throw new PatternError('a class must not be empty or contain "[" or set operations');
    for (const [escaped] of token.matchAll(/\\./gu)) requireEscape(escaped, /^\\[dDwWsStnr\W]$/u);
    return { choices: 1, minLength: 1 };
  }
  if (token.startsWith('\\')) {
    requireEscape(token, /^\\[dDwWsSbBtnr\W]$/u);
    return { choices: 1, minLength: /^\\[bB]$/.test(token) ? 0 : 1 };
  }
  return { choices: 1, minLength: token === '^' || token === '$' ? 0 : 1 };
}

function requireEscape(escaped: string, supported: RegExp): void {
  if (!supported.test(escaped)) throw new PatternError(`"${escaped}" is not supported`);
}
