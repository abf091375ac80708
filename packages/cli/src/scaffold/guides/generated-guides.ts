import { isOlder } from '../version-order.ts';
import { type Hashes, hashOf } from '../writing/answers.ts';
import { type Guide, guidesOf } from './guides.ts';
import { readMark } from './mark.ts';

/** The state of a guide that was generated. */
export type GeneratedGuide = {
  readonly guide: Guide;
  readonly state: 'unchanged' | 'outdated' | 'edited' | 'removed';
  /** The older version that wrote it, according to its mark; null if unknown. */
  readonly writtenBy: string | null;
};

/**
 * Compares the guides of a project with the guides that `version` generates. Omits guides that the user wrote. `recorded`: hashes
 * of the generated texts; null if the version that created the project did not store them. `existing` returns the text of a
 * file, null if nothing exists at the path, and '' if something other than a file exists there.
 */
export function generatedGuides(
  version: string,
  recorded: Hashes | null,
  existing: (path: string) => string | null,
): readonly GeneratedGuide[] {
  return guidesOf(version).flatMap((guide) => {
    const { path, text, beforeBot } = guide;
    const content = existing(path);
    const wasGenerated = recorded === null ? !beforeBot : Object.hasOwn(recorded, path);
    if (content === text) return { guide, state: 'unchanged', writtenBy: null };
    if (content === null) return wasGenerated ? { guide, state: 'removed', writtenBy: null } : [];
    const mark = readMark(content);
    if (mark === null) {
      if (!wasGenerated) return [];
      const isUnedited = recorded?.[path] === `sha256:${hashOf(content)}`;
      return { guide, state: isUnedited ? 'outdated' : 'edited', writtenBy: null };
    }
    const writtenBy = isOlder(mark.version, version) ? mark.version : null;
    return { guide, state: mark.edited ? 'edited' : writtenBy === null ? 'unchanged' : 'outdated', writtenBy };
  });
}
