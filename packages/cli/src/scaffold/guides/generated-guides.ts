import { isOlderVersion } from '../version-order.ts';
import { type FileHashes, hashText } from '../writing/project-record.ts';
import { type Guide, listGuides } from './guides.ts';
import { readVersionMarker } from './mark.ts';

export type GuideComparison = {
  readonly guide: Guide;
  readonly state: 'unchanged' | 'outdated' | 'edited' | 'removed';
  /**
   * The earlier version of `botcli` that generated the guide, read from the guide's version marker. Null if the guide has no
   * marker, or if the marker names no earlier version.
   */
  readonly writtenBy: string | null;
};

/**
 * Compares the guides in a project, such as `AGENTS.md`, with the texts that botcli `version` generates. Omits guides that the
 * user wrote. `recorded` are the stored hashes of the generated guides, null if none were stored. `existing` returns the text
 * of a file, null if the file does not exist, and '' if the path is not a regular file.
 */
export function compareGuidesWithGeneratedTexts(
  version: string,
  recorded: FileHashes | null,
  existing: (path: string) => string | null,
): readonly GuideComparison[] {
  return listGuides(version).flatMap((guide) => {
    const { path, text, beforeBot } = guide;
    const content = existing(path);
    const wasGenerated = recorded === null ? !beforeBot : Object.hasOwn(recorded, path);
    if (content === text) return { guide, state: 'unchanged', writtenBy: null };
    if (content === null) return wasGenerated ? { guide, state: 'removed', writtenBy: null } : [];
    const mark = readVersionMarker(content);
    if (mark === null) {
      if (!wasGenerated) return [];
      const isUnedited = recorded?.[path] === `sha256:${hashText(content)}`;
      return { guide, state: isUnedited ? 'outdated' : 'edited', writtenBy: null };
    }
    const writtenBy = isOlderVersion(mark.version, version) ? mark.version : null;
    return { guide, state: mark.edited ? 'edited' : writtenBy === null ? 'unchanged' : 'outdated', writtenBy };
  });
}
