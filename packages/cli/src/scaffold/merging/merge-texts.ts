import { diff3Merge, diffComm } from 'node-diff3';
import { parse } from 'smol-toml';
import { userConflictLabel } from './markers.ts';
import { mergeJson } from './merge-json.ts';
import { mergeRequirements } from './merge-requirements.ts';

/** A three-way merge: `base` was generated before (null if unknown), `current` is the user's, `next` is generated now. */
export type TextVersions = {
  readonly path: string;
  readonly current: string;
  readonly base: string | null;
  readonly next: string;
};

/** In a conflict, `text` contains both sides between conflict markers, as in git. */
export type MergeResult = { readonly text: string; readonly hasConflict: boolean };

/** Merges pyproject.toml by requirement, package.json by field, other files by line. `generator` labels conflicts. */
export function mergeTexts({ path, current, base, next }: TextVersions, generator: string): MergeResult {
  if (base === null) return mergeLines({ current, base, next }, generator, () => null);
  const json = path.endsWith('package.json') ? mergeJson(current, base, next) : null;
  if (json !== null) return { text: json, hasConflict: false };
  const before = path.endsWith('pyproject.toml') ? bothWithRequirements(current, base, next) : { current, base };
  const merged = mergeLines({ ...before, next }, generator, hasIndependentLines(path) ? keepAddedLines : () => null);
  if (merged.hasConflict || !path.endsWith('.toml') || isToml(merged.text)) return merged;
  return mergeLines({ current, base, next }, generator, () => null);
}

function bothWithRequirements(current: string, base: string, next: string) {
  const [mine, old] = [mergeRequirements(current, base, next), mergeRequirements(base, base, next)];
  return mine === null || old === null ? { current, base } : { current: mine, base: old };
}

/**
 * Returns whether a merge can combine lines that both sides added at the same position. True for files whose lines are
 * independent of each other, false for program code.
 */
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

/** Merges the lines of a region that both the user and the generator changed. Returns null if only the user can merge them. */
type ResolveConflict = (mine: Lines, base: Lines, theirs: Lines) => Lines | null;

/**
 * If one side only added lines to a region and the other side changed the region, keeps both the additions and the changes.
 * Otherwise returns null.
 */
const keepAddedLines: ResolveConflict = (mine, base, theirs) => {
  // If both sides added lines at the same position, put the user's lines last.
  if (base.length === 0) return [...theirs, ...mine];
  return replaceWithin(mine, base, theirs) ?? replaceWithin(theirs, base, mine);
};

function replaceWithin(added: Lines, base: Lines, changed: Lines): Lines | null {
  const at = added.findIndex((_, index) => base.every((line, offset) => added[index + offset] === line));
  return at === -1 ? null : [...added.slice(0, at), ...changed, ...added.slice(at + base.length)];
}

function mergeLines(
  { current, base, next }: Omit<TextVersions, 'path'>,
  generator: string,
  resolveConflict: ResolveConflict,
): MergeResult {
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

/** Puts conflict markers around lines that differ. Lines that are equal on both sides stay outside the markers. */
function withMarkers(mine: Lines, theirs: Lines, generator: string): Lines {
  return diffComm([...mine], [...theirs]).flatMap(
    ({ common, buffer1 = [], buffer2 = [] }) =>
      common ?? [`<<<<<<< ${userConflictLabel}`, ...buffer1, '=======', ...buffer2, `>>>>>>> ${generator}`],
  );
}
