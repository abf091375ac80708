import { isOlderVersion } from '../version-order.ts';
import { listGuides } from './guides.ts';
import { readVersionMarker } from './mark.ts';

/**
 * The planned action for a guide, such as `AGENTS.md`. State `own` means that a user wrote the guide; it is replaced only on
 * request.
 */
export type PlannedGuideAction = {
  readonly path: string;
  /** The text to write, or null to keep the file. */
  readonly text: string | null;
  readonly state: 'new' | 'overwritten' | 'current' | 'own' | 'stale';
  /** For a stale guide, the version of botcli that wrote it, and whether a user edited it. Otherwise null. */
  readonly found: { readonly version: string; readonly edited: boolean } | null;
};

/**
 * `scaffold` means the guides for a generated project, `agent` means the guides for a directory in which a coding agent builds
 * the bot.
 */
export type CodingAgentGuideSet = 'scaffold' | 'agent';

/**
 * Plans which guides, such as `AGENTS.md`, are written: missing guides and, with `overwrite`, existing ones. To also replace
 * guides of older versions of botcli, pass the result to `planStaleGuideUpdates`. `existing` returns the text of a file, or
 * null if the file does not exist.
 */
export function planGuides(
  set: CodingAgentGuideSet,
  version: string,
  overwrite: boolean,
  existing: (path: string) => string | null,
): readonly PlannedGuideAction[] {
  return listGuides(version)
    .filter(({ path, beforeBot }) => set === 'agent' || !beforeBot || existing(path) !== null)
    .map(({ path, text }): PlannedGuideAction => {
      const content = existing(path);
      if (content === null) return { path, text, state: 'new', found: null };
      if (content === text) return { path, text: null, state: 'current', found: null };
      if (overwrite) return { path, text, state: 'overwritten', found: null };
      const found = readVersionMarker(content);
      if (found === null) return { path, text: null, state: 'own', found: null };
      const stale = isOlderVersion(found.version, version);
      return { path, text: null, state: stale ? 'stale' : 'current', found: stale ? found : null };
    });
}

export function planStaleGuideUpdates(
  steps: readonly PlannedGuideAction[],
  version: string,
): readonly PlannedGuideAction[] {
  const texts = new Map(listGuides(version).map(({ path, text }) => [path, text]));
  return steps.map((step) =>
    step.state === 'stale' ? { ...step, text: texts.get(step.path) ?? null, state: 'overwritten' } : step,
  );
}
