import { join } from 'node:path';
import type { Answers } from '../checking/read-answers.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { type GeneratedGuide, generatedGuides } from '../guides/generated-guides.ts';
import { mergeTexts } from '../merging/merge-texts.ts';
import { projectFiles } from '../project/project.ts';
import type { ProjectFile } from '../project-file.ts';
import { answersFile, hashOf } from '../writing/answers.ts';
import { fileText, textOf } from '../writing/survey.ts';

/**
 * What happens to a file. `kept`: the user's version stays as it is. `conflict`: the user's edits and the change touch the same
 * lines, and `after` has both between conflict markers.
 */
export type Step = {
  readonly path: string;
  readonly kind: 'new' | 'changed' | 'merged' | 'removed' | 'kept' | 'conflict';
  /** The text before and after; null if there is no file. */
  readonly before: string | null;
  readonly after: string | null;
};

export type Change = { readonly steps: readonly Step[]; readonly answers: ProjectFile };

/**
 * Plans the change of a project to the configuration `next` and keeps the user's edits, by a three-way merge of each file: the
 * text that was generated (stored in the answers), the current text, and the text that would be generated now. If the answers
 * lack the first text, every difference in an edited file is a conflict. Writes nothing.
 */
export function planChange(directory: string, answers: Answers, next: Configuration, version: string): Change {
  const files = projectFiles(next);
  const after = new Map(files.map(({ path, text }) => [path, text]));
  const paths = [...new Set([...Object.keys(answers.files), ...after.keys()])].sort();
  const steps = paths.flatMap((path) => {
    const current = textOf(join(directory, path));
    const generated = after.get(path) ?? null;
    const hash = answers.files[path];
    return (
      stepOf(
        { path, current, next: generated, base: answers.generated.get(path) ?? null, hash },
        `botcli ${version}`,
      ) ?? []
    );
  });
  const guides = generatedGuides(version, answers.guides, (path) => fileText(directory, path));
  const recorded = guides.map(({ guide }) => guide).filter(({ beforeBot }) => !beforeBot);
  return {
    steps: [...steps, ...guides.flatMap((one) => guideStep(one, directory) ?? [])].sort(byPath),
    answers: answersFile(next, version, files, recorded),
  };
}

/** A guide that was edited is kept instead of merged, because its text only makes sense as a whole. */
function guideStep({ guide: { path, text }, state }: GeneratedGuide, directory: string): Step | null {
  const before = fileText(directory, path);
  if (state === 'unchanged') return null;
  return state === 'outdated'
    ? { path, kind: 'changed', before, after: text }
    : { path, kind: 'kept', before, after: before };
}

function byPath(one: Step, other: Step): number {
  return one.path < other.path ? -1 : 1;
}

type Texts = {
  readonly path: string;
  readonly current: string | null;
  readonly next: string | null;
  readonly base: string | null;
  /** Hash of the generated text; undefined if the file was not generated. */
  readonly hash: string | undefined;
};

function stepOf({ path, current, next, base, hash }: Texts, generator: string): Step | null {
  const step = (kind: Step['kind'], after: string | null): Step => ({ path, kind, before: current, after });
  if (current === next) return null;
  const isUnedited = current !== null && hash === `sha256:${hashOf(current)}`;
  if (isUnedited) return next === null ? step('removed', null) : step('changed', next);
  // The generated text does not change, so the user's edit or removal stays.
  if (hash !== undefined && base !== null && base === next) return step('kept', current);
  if (current === null) return hash === undefined ? step('new', next) : step('kept', current);
  if (next === null) return step('kept', current);
  const { text, hasConflict } = mergeTexts({ path, current, base, next }, generator);
  return step(hasConflict ? 'conflict' : 'merged', text);
}
