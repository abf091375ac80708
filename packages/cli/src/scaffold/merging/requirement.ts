import { isOlder } from '../version-order.ts';

/** A requirement as Python projects write it: `pipecat-ai[deepgram,openai]>=1.9.0,<2`. */
type Requirement = { readonly name: string; readonly extras: readonly string[]; readonly rest: string };

const form = /^([\w.-]+)\s*(?:\[([^\]]*)\])?\s*(.*)$/;

/** The name by which two requirements are of the same package. */
export function packageOf(requirement: string): string {
  return read(requirement)
    .name.toLowerCase()
    .replace(/[-_.]+/g, '-');
}

/**
 * What a person made of a generated requirement, brought to what would be generated now: extras that they added stay, and
 * so do bounds that are narrower. Null where both changed the bounds in different ways.
 */
export function mergedRequirement(now: string, base: string, wish: string): string | null {
  if (now === base) return wish;
  const [mine, old, next] = [read(now), read(base), read(wish)];
  const gone = old.extras.filter((extra) => !next.extras.includes(extra));
  const extras = new Set([...mine.extras, ...next.extras.filter((extra) => !old.extras.includes(extra))]);
  const rest = mergedBounds(mine.rest, old.rest, next.rest);
  if (rest === null) return null;
  const kept = [...extras].filter((extra) => !gone.includes(extra)).sort();
  return `${mine.name}${kept.length > 0 ? `[${kept.join(',')}]` : ''}${rest}`;
}

/** Of `>=1.9.0,<2` and the like. What starts higher than what would be generated stays. */
export function mergedBounds(now: string, base: string, wish: string): string | null {
  if (now === base || now === wish) return wish;
  if (wish === base) return now;
  const [mine, next] = [lowest(now), lowest(wish)];
  return mine !== null && next !== null && !isOlder(mine, next) ? now : null;
}

function lowest(bounds: string): string | null {
  return /(?:>=|==|~=)\s*(\d+(?:\.\d+)*)/.exec(bounds)?.[1] ?? null;
}

function read(requirement: string): Requirement {
  const [, name = requirement, extras = '', rest = ''] = form.exec(requirement) ?? [];
  return { name, extras: extras.split(',').flatMap((extra) => extra.trim() || []), rest };
}
