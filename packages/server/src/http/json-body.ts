import { failure, type Issue } from '@bothost/contract';

/** A name of a field; what else stands there may be anything, a value too, and is not repeated. */
const nameToTell = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * A body of which every byte counts: strict UTF-8 (a decoder would put replacements in otherwise), and no object that names a
 * field twice, of which a reader takes the first and another the last (RFC 8259 section 4).
 *
 * @throws failure `invalid-json`, `invalid-request` with each name that is there twice
 */
export function parseExactJson(bytes: Buffer): unknown {
  const text = decode(bytes);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The parser's own message shows a piece of the text.
    throw failure('invalid-json');
  }
  const issues = nameProblems(text);
  if (issues.length > 0) {
    const message = `The request is not valid. ${issues.map(({ path, message }) => `${path}: ${message}`).join('; ')}`;
    throw failure('invalid-request', { message, issues });
  }
  return parsed;
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw failure('invalid-json', { message: 'The request body is not valid UTF-8.' });
  }
}

const mostIssues = 20;
/** Of a path that is told. Bodies may be as deep as they are long. */
const mostLevels = 16;
/** Strings whole, and the signs that say where one is; text is known to be JSON. */
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

type Level = { readonly names: Set<string> | null; at: string; expectsName: boolean };

/** Walks JSON once, and says which names of objects stand twice or would be no field of an object here. */
function nameProblems(text: string): Issue[] {
  const issues: Issue[] = [];
  const levels: Level[] = [];
  for (const [token] of text.matchAll(tokens)) {
    const level = levels.at(-1);
    if (token === '{') levels.push({ names: new Set(), at: '', expectsName: true });
    else if (token === '[') levels.push({ names: null, at: '0', expectsName: false });
    else if (token === '}' || token === ']') levels.pop();
    else if (level === undefined) continue;
    else if (token === ',') {
      if (level.names === null) level.at = String(Number(level.at) + 1);
      else level.expectsName = true;
    } else if (level.expectsName && level.names !== null && token !== ':') {
      level.expectsName = false;
      const name: unknown = JSON.parse(token);
      level.at = typeof name === 'string' && nameToTell.test(name) ? name : '...';
      const problem = level.names.has(String(name)) ? 'is there twice' : name === '__proto__' ? 'is no field' : null;
      if (problem !== null && issues.length < mostIssues) issues.push({ path: pathOf(levels), message: problem });
      level.names.add(String(name));
    }
  }
  return issues;
}

function pathOf(levels: readonly Level[]): string {
  const places = levels.map(({ at }) => at);
  const shown = places.length > mostLevels ? [...places.slice(0, mostLevels), '...', ...places.slice(-1)] : places;
  return ['body', ...shown].join('.');
}
