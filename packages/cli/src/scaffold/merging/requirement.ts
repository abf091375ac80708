import { isOlderVersion } from '../version-order.ts';

/** A Python requirement, such as `pipecat-ai[deepgram,openai]>=1.9.0,<2`. */
type Requirement = { readonly name: string; readonly extras: readonly string[]; readonly rest: string };

const form = /^([\w.-]+)\s*(?:\[([^\]]*)\])?\s*(.*)$/;

/** Returns the normalized package name (PEP 503). */
export function parsePackageName(requirement: string): string {
  return read(requirement)
    .name.toLowerCase()
    .replace(/[-_.]+/g, '-');
}

/**
 * Merges a requirement: `base` was generated before, `current` is the user's version, `next` is generated now. Keeps the extras
 * that the user added. Returns null if the version bounds cannot be merged.
 */
export function mergeRequirement(current: string, base: string, next: string): string | null {
  if (current === base) return next;
  const [mine, old, theirs] = [read(current), read(base), read(next)];
  const removed = old.extras.filter((extra) => !theirs.extras.includes(extra));
  const extras = new Set([...mine.extras, ...theirs.extras.filter((extra) => !old.extras.includes(extra))]);
  const rest = mergeVersionBounds(mine.rest, old.rest, theirs.rest);
  if (rest === null) return null;
  const kept = [...extras].filter((extra) => !removed.includes(extra)).sort();
  return `${mine.name}${kept.length > 0 ? `[${kept.join(',')}]` : ''}${rest}`;
}

/**
 * Merges version bounds such as `>=1.9.0,<2`. If both sides changed the bounds, keeps the user's bounds, or returns null if the
 * user's lower bound is below the generated lower bound.
 */
export function mergeVersionBounds(current: string, base: string, next: string): string | null {
  if (current === base || current === next) return next;
  if (next === base) return current;
  const [mine, theirs] = [lowest(current), lowest(next)];
  return mine !== null && theirs !== null && !isOlderVersion(mine, theirs) ? current : null;
}

function lowest(bounds: string): string | null {
  return /(?:>=|==|~=)\s*(\d+(?:\.\d+)*)/.exec(bounds)?.[1] ?? null;
}

function read(requirement: string): Requirement {
  const [, name = requirement, extras = '', rest = ''] = form.exec(requirement) ?? [];
  return { name, extras: extras.split(',').flatMap((extra) => extra.trim() || []), rest };
}
