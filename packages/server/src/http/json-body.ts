import { isUtf8 } from 'node:buffer';
import { failure, type Issue } from '@bothost/contract';

/** Messages contain only field names of this form, because other names may be misplaced secret values. */
const printableName = /^[A-Za-z0-9_-]{1,64}$/;
const levelsAtMost = 100;
const issuesAtMost = 20;
const levelsInPathAtMost = 16;

/**
 * Parses a request body. Rejects values that the database or a bot could not read: strings with half of a surrogate
 * pair (RFC 7493, section 2.1) and deep nesting, which overflows the stack of many JSON parsers.
 *
 * @throws failure `invalid-json`, `invalid-request` with the path of the value
 */
export function parseJson(bytes: Buffer): unknown {
  // Decode only valid UTF-8, because decoding silently replaces invalid bytes.
  if (!isUtf8(bytes)) throw failure('invalid-json', { message: 'The request body is not valid UTF-8.' });
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8').replace(/^\ufeff/, ''));
  } catch {
    // The parser's message is not used, because it contains part of the text, which may be a secret.
    throw failure('invalid-json');
  }
  requireInteroperable(value, []);
  return value;
}

/**
 * Parses JSON like `parseJson`, but also rejects objects with duplicate field names, because parsers disagree about
 * which of them counts (RFC 8259, section 4).
 */
export function parseExactJson(bytes: Buffer): unknown {
  const value = parseJson(bytes);
  const issues = findDuplicates(bytes.toString('utf8'));
  if (issues.length > 0) throw invalid(issues);
  return value;
}

function requireInteroperable(value: unknown, path: readonly string[]): void {
  const problem = (message: string) => invalid([{ path: pathOf(path), message }]);
  if (path.at(-1) === '__proto__') throw problem('is not an allowed field name');
  if (typeof value === 'string' && /\p{Cs}/u.test(value)) throw problem('contains half of a surrogate pair');
  if (typeof value !== 'object' || value === null) return;
  if (path.length === levelsAtMost) throw problem(`is nested more than ${levelsAtMost} levels deep`);
  for (const [name, item] of Object.entries(value)) {
    requireInteroperable(name, path);
    requireInteroperable(item, [...path, name]);
  }
}

function invalid(issues: readonly Issue[]) {
  const message = `The request is not valid. ${issues.map(({ path, message }) => `${path}: ${message}`).join('; ')}`;
  return failure('invalid-request', { message, issues });
}

/** Matches strings and structural characters. The text must be valid JSON. */
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

type Level = { readonly names: Set<string> | null; at: string; expectsName: boolean };

function findDuplicates(text: string): Issue[] {
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
      level.at = String(JSON.parse(token));
      if (level.names.has(level.at) && issues.length < issuesAtMost) {
        issues.push({ path: pathOf(levels.map(({ at }) => at)), message: 'appears twice' });
      }
      level.names.add(level.at);
    }
  }
  return issues;
}

function pathOf(names: readonly string[]): string {
  const printable = names.map((name) => (printableName.test(name) ? name : '...'));
  const isLong = printable.length > levelsInPathAtMost;
  return ['body', ...(isLong ? [...printable.slice(0, levelsInPathAtMost), '...'] : printable)].join('.');
}
