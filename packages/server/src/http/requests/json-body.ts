import { isUtf8 } from 'node:buffer';
import { createApiError, getObjectFields, JsonText, type ValidationIssue } from '@bothost/contract';

/** Pattern of the field names that error messages may contain. Any other name may be a misplaced secret value. */
const printableName = /^[A-Za-z0-9_-]{1,64}$/;
const maxNestingLevels = 100;
const issuesAtMost = 20;
const levelsInPathAtMost = 16;

/**
 * Parses a request body. Rejects values that the database or a bot could not read: strings with half of a surrogate
 * pair (RFC 7493, section 2.1) and deep nesting, which overflows the stack of many JSON parsers.
 *
 * @throws failure `invalid-json`, `invalid-request` with the path of the value
 */
export function parseJson(bytes: Buffer): unknown {
  // Reject invalid UTF-8 before decoding, which would silently replace invalid bytes.
  if (!isUtf8(bytes)) throw createApiError('invalid-json', { message: 'The request body is not valid UTF-8.' });
  // Check the nesting before parsing, because parsing a body that consists only of brackets takes long.
  if (isNestedDeeper(bytes, maxNestingLevels))
    throw invalid([{ path: 'body', message: `is nested more than ${maxNestingLevels} levels deep` }]);
  let value: unknown;
  try {
    value = JSON.parse(decode(bytes));
  } catch {
    // The parser's message is not used, because it contains part of the text, which may be a secret.
    throw createApiError('invalid-json');
  }
  requireInteroperable(value, []);
  return value;
}

function decode(bytes: Buffer): string {
  return bytes.toString('utf8').replace(/^\ufeff/, '');
}

/** Parses a request body like `parseJson`, but returns the field `name` of the object as the text that was sent. */
export function parseJsonWithVerbatimField(bytes: Buffer, name: string): unknown {
  const value = parseJson(bytes);
  const text = findFieldText(decode(bytes), name);
  return text === null ? value : { ...getObjectFields(value), [name]: new JsonText(text) };
}

/** The text of a field of valid JSON. The last of several with the same name counts, as in `JSON.parse`. Null if none. */
function findFieldText(json: string, name: string): string | null {
  let found: string | null = null;
  let level = 0;
  let start = 0;
  let isWanted = false;
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (character === '"') at = findStringEnd(json, at);
    else if (character === '{' || character === '[') {
      level += 1;
      if (level === 1) start = at + 1;
    } else if (character === ':' && level === 1) {
      isWanted = JSON.parse(json.slice(start, at)) === name;
      start = at + 1;
    } else if (character === ',' || character === '}' || character === ']') {
      if (level === 1) {
        if (isWanted) found = json.slice(start, at).trim();
        start = at + 1;
      }
      if (character !== ',') level -= 1;
    }
  }
  return found;
}

function findStringEnd(json: string, start: number): number {
  let at = start + 1;
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at;
}

/** Like `parseJson`, but rejects duplicate names: parsers disagree about which of them counts (RFC 8259, section 4). */
export function parseJsonWithUniqueKeys(bytes: Buffer): unknown {
  const value = parseJson(bytes);
  const issues = findDuplicates(bytes.toString('utf8'));
  if (issues.length > 0) throw invalid(issues);
  return value;
}

/** Whether brackets outside strings are nested deeper than `levels`. The text need not be valid JSON. */
function isNestedDeeper(bytes: Buffer, levels: number): boolean {
  let level = 0;
  let isInString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (isInString) {
      if (byte === 0x5c) at += 1;
      else if (byte === 0x22) isInString = false;
    } else if (byte === 0x22) isInString = true;
    else if (byte === 0x5b || byte === 0x7b) level += 1;
    else if (byte === 0x5d || byte === 0x7d) level -= 1;
    if (level > levels) return true;
  }
  return false;
}

const surrogate = /\p{Cs}/u;

/** Rejects a value that some programs cannot read. Changes `path` in place: a million copies would block the service. */
function requireInteroperable(value: unknown, path: (string | number)[]): void {
  if (path.at(-1) === '__proto__') throw problemAt(path, 'is not an allowed field name');
  if (typeof value === 'string' && surrogate.test(value)) throw problemAt(path, 'contains half of a surrogate pair');
  if (typeof value !== 'object' || value === null) return;
  const isArray = Array.isArray(value);
  for (const [name, item] of isArray ? value.entries() : Object.entries(value)) {
    if (!isArray) requireInteroperable(name, path);
    path.push(name);
    requireInteroperable(item, path);
    path.pop();
  }
}

const problemAt = (path: readonly (string | number)[], message: string) => invalid([{ path: pathOf(path), message }]);

function invalid(issues: readonly ValidationIssue[]) {
  const message = `The request is not valid. ${issues.map(({ path, message }) => `${path}: ${message}`).join('; ')}`;
  return createApiError('invalid-request', { message, issues });
}

/** Matches the strings and the structural characters of valid JSON. */
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

type Level = { readonly names: Set<string> | null; at: string; expectsName: boolean };

function findDuplicates(text: string): ValidationIssue[] {
  const issues: ValidationIssue[] = [];
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

function pathOf(names: readonly (string | number)[]): string {
  const printable = names.map((name) => (printableName.test(`${name}`) ? `${name}` : '...'));
  const isLong = printable.length > levelsInPathAtMost;
  return ['body', ...(isLong ? [...printable.slice(0, levelsInPathAtMost), '...'] : printable)].join('.');
}
