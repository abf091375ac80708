import { isOlder } from '../version-order.ts';
import { type Hashes, hashOf } from '../writing/answers.ts';
import { type Guide, guidesOf } from './guides.ts';
import { readMark } from './mark.ts';

/** What became of a guide that was generated. */
export type GeneratedGuide = {
  readonly guide: Guide;
  readonly state: 'unchanged' | 'outdated' | 'edited' | 'removed';
  /** The older version that wrote it, where its mark says so. */
  readonly writtenBy: string | null;
};

/**
 * The guides of a project, against those that `version` writes. `recorded` are their hashes as they were generated; null for
 * a project that was made before these were kept. A person's own guides are not among them. `existing` gives what is in a
 * file: null where there is none, '' for what is no file.
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
      const isPristine = recorded?.[path] === `sha256:${hashOf(content)}`;
      return { guide, state: isPristine ? 'outdated' : 'edited', writtenBy: null };
    }
    const writtenBy = isOlder(mark.version, version) ? mark.version : null;
    return { guide, state: mark.edited ? 'edited' : writtenBy === null ? 'unchanged' : 'outdated', writtenBy };
  });
}
