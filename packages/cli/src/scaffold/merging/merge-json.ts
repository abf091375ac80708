import { isDeepStrictEqual } from 'node:util';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Merges JSON documents field by field, in the order of `now`; what is new comes behind what it follows in `wish`. Indented
 * like `now`, as npm does. Null where both sides changed a field in different ways, or a text is no JSON object.
 */
export function mergedJson(now: string, base: string, wish: string): string | null {
  const [mine, old, next] = [parsed(now), parsed(base), parsed(wish)];
  if (mine === null || old === null || next === null) return null;
  const merged = mergedFields(mine, old, next);
  const indent = /^[ \t]+/m.exec(now)?.[0] ?? '';
  return merged === null ? null : `${JSON.stringify(merged, null, indent)}\n`;
}

function mergedFields(now: Fields, base: Fields, wish: Fields): Fields | null {
  const merged: (readonly [name: string, value: unknown])[] = [];
  for (const name of inOrder(Object.keys(now), Object.keys(wish))) {
    const value = mergedValue(valueIn(now, name), valueIn(base, name), valueIn(wish, name));
    if (value === conflict) return null;
    if (value !== undefined) merged.push([name, value]);
  }
  return Object.fromEntries(merged);
}

const conflict = Symbol('conflict');

/** `undefined` stands for a field that is not there. */
function mergedValue(now: unknown, base: unknown, wish: unknown): unknown {
  if (isDeepStrictEqual(base, wish) || isDeepStrictEqual(now, wish)) return now;
  if (isDeepStrictEqual(now, base)) return wish;
  if (!isFields(now) || !isFields(wish)) return conflict;
  return mergedFields(now, isFields(base) ? base : {}, wish) ?? conflict;
}

function inOrder(mine: readonly string[], theirs: readonly string[]): readonly string[] {
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
