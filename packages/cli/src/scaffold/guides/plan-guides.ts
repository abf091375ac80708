import { isOlder } from '../version-order.ts';
import { guidesOf } from './guides.ts';
import { readMark } from './mark.ts';

/** What is done with a guide. A text that a user wrote is replaced only on request. */
export type GuideStep = {
  readonly path: string;
  /** The text to write; null to keep the file. */
  readonly text: string | null;
  readonly state: 'new' | 'overwritten' | 'current' | 'own' | 'stale';
  /** For a stale guide, the version that wrote it, and whether it was edited after that. */
  readonly found: { readonly version: string; readonly edited: boolean } | null;
};

/** The guides of a generated project, or of a directory where a coding agent builds the bot. */
export type GuideSet = 'scaffold' | 'agent';

/**
 * Decides what is done with each guide. `existing` returns the text of a file, or null. A guide is stale if an older version wrote
 * it. Guides of the same or a newer version, and guides without a mark, are kept.
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

/** The same steps, but stale guides are replaced. */
export function refreshed(steps: readonly GuideStep[], version: string): readonly GuideStep[] {
  const texts = new Map(guidesOf(version).map(({ path, text }) => [path, text]));
  return steps.map((step) =>
    step.state === 'stale' ? { ...step, text: texts.get(step.path) ?? null, state: 'overwritten' } : step,
  );
}
