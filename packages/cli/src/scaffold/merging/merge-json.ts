import { isDeepStrictEqual } from 'node:util';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Merges JSON objects field by field. Keeps the order and indentation of `current`. Inserts each new field after the field that
 * precedes it in `next`. Returns null if `current` and `next` changed a field differently, or if a text is not a JSON object.
 */
export function mergeJson(current: string, base: string, next: string): string | null {
  const [mine, old, theirs] = [parsed(current), parsed(base), parsed(next)];
  if (mine === null || old === null || theirs === null) return null;
  const merged = mergedFields(mine, old, theirs);
  const indent = /^[ \t]+/m.exec(current)?.[0] ?? '';
  return merged === null ? null : `${JSON.stringify(merged, null, indent)}\n`;
}

function mergedFields(current: Fields, base: Fields, next: Fields): Fields | null {
  const merged: (readonly [name: string, value: unknown])[] = [];
  for (const name of inFieldOrder(Object.keys(current), Object.keys(next))) {
    const value = mergedValue(valueIn(current, name), valueIn(base, name), valueIn(next, name));
    if (value === conflict) return null;
    if (value !== undefined) merged.push([name, value]);
  }
  return Object.fromEntries(merged);
}

const conflict = Symbol('conflict');

function mergedValue(current: unknown, base: unknown, next: unknown): unknown {
  if (isDeepStrictEqual(base, next) || isDeepStrictEqual(current, next)) return current;
  if (isDeepStrictEqual(current, base)) return next;
  if (!isFields(current) || !isFields(next)) return conflict;
  return mergedFields(current, isFields(base) ? base : {}, next) ?? conflict;
}

function inFieldOrder(mine: readonly string[], theirs: readonly string[]): readonly string[] {
  const names = [...mine];
  for (const [index, name] of theirs.entries()) {
    if (!names.includes(name)) names.splice(names.indexOf(theirs[index - 1] ?? '') + 1, 0, name);
  }
  return names;
}

function valueIn(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function parsed(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
