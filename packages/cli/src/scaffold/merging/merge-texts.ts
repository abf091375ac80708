import { diff3Merge, diffComm } from 'node-diff3';
import { parse } from 'smol-toml';
import { markedAsMine } from './markers.ts';
import { mergedJson } from './merge-json.ts';
import { withRequirements } from './merge-requirements.ts';

/** A file as it is, as it was generated (null where that is not known), and as it would be generated now. */
export type ThreeTexts = {
  readonly path: string;
  readonly now: string;
  readonly base: string | null;
  readonly wish: string;
};

/** With a conflict, `text` has both sides between markers, as git writes them. */
export type Merged = { readonly text: string; readonly hasConflict: boolean };

/** Merges by lines, the requirements of Python one by one, and package.json by its fields. `generator` stands at the markers of the new lines. */
export function mergeTexts({ path, now, base, wish }: ThreeTexts, generator: string): Merged {
  if (base === null) return mergeLines({ now, base, wish }, generator, () => null);
  const json = path.endsWith('package.json') ? mergedJson(now, base, wish) : null;
  if (json !== null) return { text: json, hasConflict: false };
  const before = path.endsWith('pyproject.toml') ? bothWithRequirements(now, base, wish) : { now, base };
  const merged = mergeLines({ ...before, wish }, generator, isList(path) ? keepAddedLines : () => null);
  if (merged.hasConflict || !path.endsWith('.toml') || isToml(merged.text)) return merged;
  return mergeLines({ now, base, wish }, generator, () => null);
}

function bothWithRequirements(now: string, base: string, wish: string) {
  const [mine, old] = [withRequirements(now, base, wish), withRequirements(base, base, wish)];
  return mine === null || old === null ? { now, base } : { now: mine, base: old };
}

/** Whether each line, or each few, say something of their own: not so in programs. */
function isList(path: string): boolean {
  return /(^|\/)(\.env\.example|\.gitignore|\.dockerignore|README\.md|pyproject\.toml|deploy\.toml)$/.test(path);
}

function isToml(text: string): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}

type Lines = readonly string[];

/** Lines for a place at which both sides changed something; null where somebody has to choose. */
type Solve = (mine: Lines, base: Lines, theirs: Lines) => Lines | null;

/** One side only added lines before or behind what the other one changed: they stay there. */
const keepAddedLines: Solve = (mine, base, theirs) => {
  // Both added something at one place: what a person adds to a list comes behind.
  if (base.length === 0) return [...theirs, ...mine];
  return around(mine, base, theirs) ?? around(theirs, base, mine);
};

function around(added: Lines, base: Lines, changed: Lines): Lines | null {
  const at = added.findIndex((_, index) => base.every((line, offset) => added[index + offset] === line));
  return at === -1 ? null : [...added.slice(0, at), ...changed, ...added.slice(at + base.length)];
}

function mergeLines({ now, base, wish }: Omit<ThreeTexts, 'path'>, generator: string, solve: Solve): Merged {
  let hasConflict = false;
  const regions = diff3Merge(now.split('\n'), base?.split('\n') ?? [], wish.split('\n'));
  const lines = regions.flatMap(({ ok, conflict }): Lines => {
    if (conflict === undefined) return ok ?? [];
    const { a, o, b } = conflict;
    const solved = solve(a, o, b);
    if (solved === null) hasConflict = true;
    return solved ?? withMarkers(a, b, generator);
  });
  return { text: lines.join('\n'), hasConflict };
}

/** What both sides have is outside the markers. */
function withMarkers(mine: Lines, theirs: Lines, generator: string): Lines {
  return diffComm([...mine], [...theirs]).flatMap(
    ({ common, buffer1 = [], buffer2 = [] }) =>
      common ?? [`<<<<<<< ${markedAsMine}`, ...buffer1, '=======', ...buffer2, `>>>>>>> ${generator}`],
  );
}
