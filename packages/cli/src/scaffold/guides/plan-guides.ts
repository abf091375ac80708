import { isOlder } from '../version-order.ts';
import { guidesOf } from './guides.ts';
import { readMark } from './mark.ts';

/** A guide, what is there of it, and what is to be done: nothing that a person wrote is replaced unasked. */
export type GuideStep = {
  readonly path: string;
  /** What to write; null leaves the file alone. */
  readonly text: string | null;
  readonly state: 'new' | 'overwritten' | 'current' | 'own' | 'stale';
  /** Version in the mark of a stale one, and whether it was edited since. */
  readonly found: { readonly version: string; readonly edited: boolean } | null;
};

/** For a project that is generated, or for those who have no bot yet and make one with a coding agent. */
export type GuideSet = 'scaffold' | 'agent';

/**
 * Decides about each guide. `existing` gives what is in the file, or null. Stale is what an older
 * version wrote; a newer mark, no mark, and the same version are left alone.
 */
export function planGuides(
  set: GuideSet,
  version: string,
  overwrite: boolean,
  existing: (path: string) => string | null,
): readonly GuideStep[] {
  return guidesOf(version)
    .filter(({ path, beforeBot }) => set === 'agent' || !beforeBot || existing(path) !== null)
    .map(({ path, text }): GuideStep => {
      const content = existing(path);
      if (content === null) return { path, text, state: 'new', found: null };
      if (content === text) return { path, text: null, state: 'current', found: null };
      if (overwrite) return { path, text, state: 'overwritten', found: null };
      const found = readMark(content);
      if (found === null) return { path, text: null, state: 'own', found: null };
      const stale = isOlder(found.version, version);
      return { path, text: null, state: stale ? 'stale' : 'current', found: stale ? found : null };
    });
}

/** The same, with stale guides written anew. */
export function refreshed(steps: readonly GuideStep[], version: string): readonly GuideStep[] {
  const texts = new Map(guidesOf(version).map(({ path, text }) => [path, text]));
  return steps.map((step) =>
    step.state === 'stale' ? { ...step, text: texts.get(step.path) ?? null, state: 'overwritten' } : step,
  );
}
