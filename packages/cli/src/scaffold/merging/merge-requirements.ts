import { mergedBounds, mergedRequirement, packageOf } from './requirement.ts';
import { type Layout, type List, layoutOf, type Quoted } from './toml-layout.ts';

/** Replaces the characters from `start` to `end`. */
type Edit = { readonly start: number; readonly end: number; readonly text: string };

const python = 'project.requires-python';

/**
 * Applies the change of the generated requirements from `base` to `next` to a pyproject.toml. Everything else stays, including
 * comments and spacing. Null if a requirement cannot be merged.
 */
export function withRequirements(current: string, base: string, next: string): string | null {
  const [mine, old, theirs] = [layoutOf(current), layoutOf(base), layoutOf(next)];
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

function pythonEdits(mine: Layout, old: Layout, theirs: Layout): readonly Edit[] | null {
  const [current, base, next] = [mine.texts.get(python), old.texts.get(python), theirs.texts.get(python)];
  if (base === undefined || next === undefined || base.text === next.text) return [];
  const text = current === undefined ? null : mergedBounds(current.text, base.text, next.text);
  return current === undefined || text === null ? null : [{ ...current, text }];
}

function listEdits(
  document: string,
  list: List,
  base: readonly Quoted[],
  next: readonly Quoted[],
): readonly Edit[] | null {
  const of = (items: readonly Quoted[], name: string) => items.find(({ text }) => packageOf(text) === name);
  if (base.some(({ text }) => of(next, packageOf(text)) === undefined)) return null;
  const edits = next.map(({ text }, index): readonly Edit[] | null => {
    const name = packageOf(text);
    const [current, before] = [of(list.items, name), of(base, name)];
    if (before?.text === text) return [];
    if (before === undefined) {
      if (current !== undefined) return [];
      const last = of(list.items, packageOf(next[index - 1]?.text ?? '')) ?? list.items.at(-1);
      return last === undefined ? null : [insertion(document, last, text)];
    }
    const merged = current === undefined ? null : mergedRequirement(current.text, before.text, text);
    return current === undefined || merged === null ? null : [{ ...current, text: merged }];
  });
  return edits.includes(null) ? null : edits.flatMap((some) => some ?? []);
}

/** Inserts a requirement after an item, on a line of its own if the item has one. */
function insertion(document: string, { end }: Quoted, text: string): Edit {
  const after = document.slice(end + 1).split('\n', 1)[0] ?? '';
  const [, comma, comment] = /^[ \t]*(,?)([ \t]*(?:#.*)?)$/.exec(after) ?? [];
  if (comma === undefined) return { start: end + 1, end: end + 1, text: `, "${text}"` };
  return {
    start: end + 1,
    end: end + 1 + after.length,
    text: `,${comment}\n${indentationAt(document, end)}"${text}",`,
  };
}

/** The indentation of the line at a position. */
function indentationAt(document: string, at: number): string {
  return /^[ \t]*/.exec(document.slice(document.lastIndexOf('\n', at) + 1))?.[0] ?? '';
}

/** Inserts a list that was not generated before, after the previous list. */
function newList(previous: List | undefined, next: string, { start, end }: List): readonly Edit[] | null {
  if (previous === undefined) return null;
  return [{ start: previous.end, end: previous.end, text: `\n${next.slice(start, end)}` }];
}
