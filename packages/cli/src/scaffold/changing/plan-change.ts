import { join } from 'node:path';
import type { ProjectRecord } from '../checking/read-project-record.ts';
import type { ProjectConfiguration } from '../configuration/configuration.ts';
import { compareGuidesWithGeneratedTexts, type GuideComparison } from '../guides/generated-guides.ts';
import { mergeTexts } from '../merging/merge-texts.ts';
import { generateProjectFiles } from '../project/project.ts';
import type { ProjectFile } from '../project-file.ts';
import { createProjectRecordFile, hashText } from '../writing/project-record.ts';
import { readRegularFileText, readTextIfExists } from '../writing/survey.ts';

/**
 * How a change affects a file. `kept` means that the user's version stays. `conflict` means that the user edited lines that the
 * change would overwrite; `after` then contains both versions between conflict markers.
 */
export type PlannedFileChange = {
  readonly path: string;
  readonly kind: 'new' | 'changed' | 'merged' | 'removed' | 'kept' | 'conflict';
  /** The text of the file before and after the change. Null if the file does not exist. */
  readonly before: string | null;
  readonly after: string | null;
};

export type ChangePlan = { readonly steps: readonly PlannedFileChange[]; readonly answers: ProjectFile };

/**
 * Plans the change of a project to the configuration `next` and writes nothing. Each file is merged from three texts: the
 * stored text that was generated before, the current text, and the text that is generated now. Without the stored text, every
 * difference in an edited file is a conflict.
 */
export function planChange(
  directory: string,
  answers: ProjectRecord,
  next: ProjectConfiguration,
  version: string,
): ChangePlan {
  const files = generateProjectFiles(next);
  const after = new Map(files.map(({ path, text }) => [path, text]));
  const paths = [...new Set([...Object.keys(answers.files), ...after.keys()])].sort();
  const steps = paths.flatMap((path) => {
    const current = readTextIfExists(join(directory, path));
    const generated = after.get(path) ?? null;
    const hash = answers.files[path];
    return (
      stepOf(
        { path, current, next: generated, base: answers.generated.get(path) ?? null, hash },
        `botcli ${version}`,
      ) ?? []
    );
  });
  const guides = compareGuidesWithGeneratedTexts(version, answers.guides, (path) =>
    readRegularFileText(directory, path),
  );
  const recorded = guides.map(({ guide }) => guide).filter(({ beforeBot }) => !beforeBot);
  return {
    steps: [...steps, ...guides.flatMap((one) => guideStep(one, directory) ?? [])].sort(byPath),
    answers: createProjectRecordFile(next, version, files, recorded),
  };
}

/** An edited guide, such as `AGENTS.md`, is kept instead of merged, because its text makes sense only as a whole. */
function guideStep({ guide: { path, text }, state }: GuideComparison, directory: string): PlannedFileChange | null {
  const before = readRegularFileText(directory, path);
  if (state === 'unchanged') return null;
  return state === 'outdated'
    ? { path, kind: 'changed', before, after: text }
    : { path, kind: 'kept', before, after: before };
}

function byPath(one: PlannedFileChange, other: PlannedFileChange): number {
  return one.path < other.path ? -1 : 1;
}

type Texts = {
  readonly path: string;
  readonly current: string | null;
  readonly next: string | null;
  readonly base: string | null;
  /** The hash of the generated text in `.botcli/project.json`. Undefined if botcli did not generate the file. */
  readonly hash: string | undefined;
};

function stepOf({ path, current, next, base, hash }: Texts, generator: string): PlannedFileChange | null {
  const step = (kind: PlannedFileChange['kind'], after: string | null): PlannedFileChange => ({
    path,
    kind,
    before: current,
    after,
  });
  if (current === next) return null;
  const isUnedited = current !== null && hash === `sha256:${hashText(current)}`;
  if (isUnedited) return next === null ? step('removed', null) : step('changed', next);
  // If botcli generates the same text as before, keep the user's edits, and do not restore a file that the user removed.
  if (hash !== undefined && base !== null && base === next) return step('kept', current);
  if (current === null) return hash === undefined ? step('new', next) : step('kept', current);
  if (next === null) return step('kept', current);
  const { text, hasConflict } = mergeTexts({ path, current, base, next }, generator);
  return step(hasConflict ? 'conflict' : 'merged', text);
}
