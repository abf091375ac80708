import { diff3Merge, diffComm } from 'node-diff3';
import { parse } from 'smol-toml';
import { userLabel } from './markers.ts';
import { mergedJson } from './merge-json.ts';
import { withRequirements } from './merge-requirements.ts';

/** The versions of a three-way merge: the current file, the generated text (null if unknown), and what would be generated now. */
export type ThreeTexts = {
  readonly path: string;
  readonly current: string;
  readonly base: string | null;
  readonly next: string;
};

/** If there is a conflict, `text` has both sides between conflict markers like git's. */
export type Merged = { readonly text: string; readonly hasConflict: boolean };

/**
 * Merges pyproject.toml by requirement, package.json by field, and everything else by line. `generator` labels the conflict
 * markers of the generated lines.
 */
export function mergeTexts({ path, current, base, next }: ThreeTexts, generator: string): Merged {
  if (base === null) return mergeLines({ current, base, next }, generator, () => null);
  const json = path.endsWith('package.json') ? mergedJson(current, base, next) : null;
  if (json !== null) return { text: json, hasConflict: false };
  const before = path.endsWith('pyproject.toml') ? bothWithRequirements(current, base, next) : { current, base };
  const merged = mergeLines({ ...before, next }, generator, hasIndependentLines(path) ? keepAddedLines : () => null);
  if (merged.hasConflict || !path.endsWith('.toml') || isToml(merged.text)) return merged;
  return mergeLines({ current, base, next }, generator, () => null);
}

function bothWithRequirements(current: string, base: string, next: string) {
  const [mine, old] = [withRequirements(current, base, next), withRequirements(base, base, next)];
  return mine === null || old === null ? { current, base } : { current: mine, base: old };
}

/** Whether lines are independent of each other, unlike in programs, so that lines of both sides can be combined. */
function hasIndependentLines(path: string): boolean {
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

/** Resolves a region that both sides changed; null if the user has to choose. */
type ResolveConflict = (mine: Lines, base: Lines, theirs: Lines) => Lines | null;

/** Keeps lines that one side added directly before or after lines that the other side changed. */
const keepAddedLines: ResolveConflict = (mine, base, theirs) => {
  // Both sides added lines at the same position: the user's lines come last.
  if (base.length === 0) return [...theirs, ...mine];
  return replaceWithin(mine, base, theirs) ?? replaceWithin(theirs, base, mine);
};

function replaceWithin(added: Lines, base: Lines, changed: Lines): Lines | null {
  const at = added.findIndex((_, index) => base.every((line, offset) => added[index + offset] === line));
  return at === -1 ? null : [...added.slice(0, at), ...changed, ...added.slice(at + base.length)];
}

function mergeLines(
  { current, base, next }: Omit<ThreeTexts, 'path'>,
  generator: string,
  resolveConflict: ResolveConflict,
): Merged {
  let hasConflict = false;
  const regions = diff3Merge(current.split('\n'), base?.split('\n') ?? [], next.split('\n'));
  const lines = regions.flatMap(({ ok, conflict }): Lines => {
    if (conflict === undefined) return ok ?? [];
    const { a, o, b } = conflict;
    const resolved = resolveConflict(a, o, b);
    if (resolved === null) hasConflict = true;
    return resolved ?? withMarkers(a, b, generator);
  });
  return { text: lines.join('\n'), hasConflict };
}

/** Lines that both sides have are outside the markers. */
function withMarkers(mine: Lines, theirs: Lines, generator: string): Lines {
  return diffComm([...mine], [...theirs]).flatMap(
    ({ common, buffer1 = [], buffer2 = [] }) =>
      common ?? [`<<<<<<< ${userLabel}`, ...buffer1, '=======', ...buffer2, `>>>>>>> ${generator}`],
  );
}
