import { mergeRequirement, mergeVersionBounds, parsePackageName } from './requirement.ts';
import { parseTomlLayout, type TomlArray, type TomlLayout, type TomlString } from './toml-layout.ts';

type Edit = { readonly start: number; readonly end: number; readonly text: string };

const python = 'project.requires-python';

/**
 * Applies the difference between the generated requirements `base` and `next` to the user's pyproject.toml, `current`. Keeps
 * everything else, including comments. Returns null if a requirement cannot be merged.
 */
export function mergeRequirements(current: string, base: string, next: string): string | null {
  const [mine, old, theirs] = [parseTomlLayout(current), parseTomlLayout(base), parseTomlLayout(next)];
  if (mine === null || old === null || theirs === null) return null;
  const edits = [pythonEdits(mine, old, theirs)];
  const names = [...theirs.lists.keys()].filter(isOfRequirements);
  if ([...old.lists.keys()].some((name) => isOfRequirements(name) && !names.includes(name))) return null;
  for (const [index, name] of names.entries()) {
    const [list, before, after] = [mine.lists.get(name), old.lists.get(name), theirs.lists.get(name)];
    if (after === undefined) continue;
    if (list !== undefined) edits.push(listEdits(current, list, before?.items ?? [], after.items));
    else if (before === undefined) edits.push(newList(mine.lists.get(names[index - 1] ?? ''), next, after));
    else
      edits.push(
        before.items.map(({ text }) => text).join() === after.items.map(({ text }) => text).join() ? [] : null,
      );
  }
  if (edits.includes(null)) return null;
  const fromEnd = edits.flatMap((some) => some ?? []).sort((a, b) => b.start - a.start);
  return fromEnd.reduce((text, edit) => text.slice(0, edit.start) + edit.text + text.slice(edit.end), current);
}

function isOfRequirements(name: string): boolean {
  return name === 'project.dependencies' || name.startsWith('dependency-groups.');
}

function pythonEdits(mine: TomlLayout, old: TomlLayout, theirs: TomlLayout): readonly Edit[] | null {
  const [current, base, next] = [mine.texts.get(python), old.texts.get(python), theirs.texts.get(python)];
  if (base === undefined || next === undefined || base.text === next.text) return [];
  const text = current === undefined ? null : mergeVersionBounds(current.text, base.text, next.text);
  return current === undefined || text === null ? null : [{ ...current, text }];
}

function listEdits(
  document: string,
  list: TomlArray,
  base: readonly TomlString[],
  next: readonly TomlString[],
): readonly Edit[] | null {
  const of = (items: readonly TomlString[], name: string) => items.find(({ text }) => parsePackageName(text) === name);
  if (base.some(({ text }) => of(next, parsePackageName(text)) === undefined)) return null;
  const edits = next.map(({ text }, index): readonly Edit[] | null => {
    const name = parsePackageName(text);
    const [current, before] = [of(list.items, name), of(base, name)];
    if (before?.text === text) return [];
    if (before === undefined) {
      if (current !== undefined) return [];
      const last = of(list.items, parsePackageName(next[index - 1]?.text ?? '')) ?? list.items.at(-1);
      return last === undefined ? null : [insertion(document, last, text)];
    }
    const merged = current === undefined ? null : mergeRequirement(current.text, before.text, text);
    return current === undefined || merged === null ? null : [{ ...current, text: merged }];
  });
  return edits.includes(null) ? null : edits.flatMap((some) => some ?? []);
}

/** Inserts a requirement after an item of an array, on a separate line if the item is on a separate line. */
function insertion(document: string, { end }: TomlString, text: string): Edit {
  const after = document.slice(end + 1).split('\n', 1)[0] ?? '';
  const [, comma, comment] = /^[ \t]*(,?)([ \t]*(?:#.*)?)$/.exec(after) ?? [];
  if (comma === undefined) return { start: end + 1, end: end + 1, text: `, "${text}"` };
  return {
    start: end + 1,
    end: end + 1 + after.length,
    text: `,${comment}\n${indentationAt(document, end)}"${text}",`,
  };
}

function indentationAt(document: string, at: number): string {
  return /^[ \t]*/.exec(document.slice(document.lastIndexOf('\n', at) + 1))?.[0] ?? '';
}

function newList(previous: TomlArray | undefined, next: string, { start, end }: TomlArray): readonly Edit[] | null {
  if (previous === undefined) return null;
  return [{ start: previous.end, end: previous.end, text: `\n${next.slice(start, end)}` }];
}
