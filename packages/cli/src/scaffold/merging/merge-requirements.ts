import { mergedBounds, mergedRequirement, packageOf } from './requirement.ts';
import { type Layout, type List, layoutOf, type Quoted } from './toml-layout.ts';

/** A replacement of what stands from `start` to `end`. */
type Edit = { readonly start: number; readonly end: number; readonly text: string };

const python = 'project.requires-python';

/**
 * A pyproject.toml with its generated requirements, and no others, changed as they change from `base` to `wish`; both were
 * generated. What else somebody wrote beside them stays, comments and spaces included. Null where it is not clear how.
 */
export function withRequirements(now: string, base: string, wish: string): string | null {
  const [mine, old, next] = [layoutOf(now), layoutOf(base), layoutOf(wish)];
  if (mine === null || old === null || next === null) return null;
  const edits = [pythonEdits(mine, old, next)];
  const names = [...next.lists.keys()].filter(isOfRequirements);
  if ([...old.lists.keys()].some((name) => isOfRequirements(name) && !names.includes(name))) return null;
  for (const [index, name] of names.entries()) {
    const [list, before, after] = [mine.lists.get(name), old.lists.get(name), next.lists.get(name)];
    if (after === undefined) continue;
    if (list !== undefined) edits.push(listEdits(now, list, before?.items ?? [], after.items));
    else if (before === undefined) edits.push(newList(mine.lists.get(names[index - 1] ?? ''), wish, after));
    else
      edits.push(
        before.items.map(({ text }) => text).join() === after.items.map(({ text }) => text).join() ? [] : null,
      );
  }
  if (edits.includes(null)) return null;
  const inOrder = edits.flatMap((some) => some ?? []).sort((a, b) => b.start - a.start);
  return inOrder.reduce((text, edit) => text.slice(0, edit.start) + edit.text + text.slice(edit.end), now);
}

function isOfRequirements(name: string): boolean {
  return name === 'project.dependencies' || name.startsWith('dependency-groups.');
}

function pythonEdits(mine: Layout, old: Layout, next: Layout): readonly Edit[] | null {
  const [now, base, wish] = [mine.texts.get(python), old.texts.get(python), next.texts.get(python)];
  if (base === undefined || wish === undefined || base.text === wish.text) return [];
  const text = now === undefined ? null : mergedBounds(now.text, base.text, wish.text);
  return now === undefined || text === null ? null : [{ ...now, text }];
}

function listEdits(
  document: string,
  list: List,
  base: readonly Quoted[],
  wish: readonly Quoted[],
): readonly Edit[] | null {
  const of = (items: readonly Quoted[], name: string) => items.find(({ text }) => packageOf(text) === name);
  if (base.some(({ text }) => of(wish, packageOf(text)) === undefined)) return null;
  const edits = wish.map(({ text }, index): readonly Edit[] | null => {
    const name = packageOf(text);
    const [now, before] = [of(list.items, name), of(base, name)];
    if (before?.text === text) return [];
    if (before === undefined) {
      if (now !== undefined) return [];
      const last = of(list.items, packageOf(wish[index - 1]?.text ?? '')) ?? list.items.at(-1);
      return last === undefined ? null : [insertion(document, last, text)];
    }
    const merged = now === undefined ? null : mergedRequirement(now.text, before.text, text);
    return now === undefined || merged === null ? null : [{ ...now, text: merged }];
  });
  return edits.includes(null) ? null : edits.flatMap((some) => some ?? []);
}

/** After an item: on a line of its own where that one has one. */
function insertion(document: string, { end }: Quoted, text: string): Edit {
  const after = document.slice(end + 1).split('\n', 1)[0] ?? '';
  const [, comma, remark] = /^[ \t]*(,?)([ \t]*(?:#.*)?)$/.exec(after) ?? [];
  if (comma === undefined) return { start: end + 1, end: end + 1, text: `, "${text}"` };
  return { start: end + 1, end: end + 1 + after.length, text: `,${remark}\n${leading(document, end)}"${text}",` };
}

/** The spaces that the line of a place begins with. */
function leading(document: string, at: number): string {
  return /^[ \t]*/.exec(document.slice(document.lastIndexOf('\n', at) + 1))?.[0] ?? '';
}

/** A list that was not generated before, behind the one that it follows. */
function newList(previous: List | undefined, wish: string, { start, end }: List): readonly Edit[] | null {
  if (previous === undefined) return null;
  return [{ start: previous.end, end: previous.end, text: `\n${wish.slice(start, end)}` }];
}
