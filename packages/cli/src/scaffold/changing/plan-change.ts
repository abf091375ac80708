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
 * What becomes of a file. `kept`: it is left as a person made it. `conflict`: edits and change touch the same lines, and
 * `after` has both, between markers.
 */
export type Step = {
  readonly path: string;
  readonly kind: 'new' | 'changed' | 'merged' | 'removed' | 'kept' | 'conflict';
  /** Null where there is no file. */
  readonly before: string | null;
  readonly after: string | null;
};

export type Change = { readonly steps: readonly Step[]; readonly answers: ProjectFile };

/**
 * What has to be done to a project so that it is as `next` says, with what was edited since kept: three texts are merged, the
 * one that was generated, the one that is there, and the one that would be generated now. The answers hold the first, whatever
 * version made it; where they do not, whatever differs in an edited file is a conflict. Nothing is written.
 */
export function planChange(directory: string, answers: Answers, next: Configuration, version: string): Change {
  const wanted = projectFiles(next);
  const after = new Map(wanted.map(({ path, text }) => [path, text]));
  const paths = [...new Set([...Object.keys(answers.files), ...after.keys()])].sort();
  const steps = paths.flatMap((path) => {
    const now = textOf(join(directory, path));
    const wish = after.get(path) ?? null;
    const hash = answers.files[path];
    return stepOf({ path, now, wish, base: answers.generated.get(path) ?? null, hash }, `botcli ${version}`) ?? [];
  });
  const guides = generatedGuides(version, answers.guides, (path) => fileText(directory, path));
  const recorded = guides.map(({ guide }) => guide).filter(({ beforeBot }) => !beforeBot);
  return {
    steps: [...steps, ...guides.flatMap((one) => guideStep(one, directory) ?? [])].sort(byPath),
    answers: answersFile(next, version, wanted, recorded),
  };
}

/** One that somebody edited is not merged: what is in it was written for its readers as a whole. */
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
  readonly now: string | null;
  readonly wish: string | null;
  readonly base: string | null;
  /** Of what was generated; absent when the file was not. */
  readonly hash: string | undefined;
};

function stepOf({ path, now, wish, base, hash }: Texts, generator: string): Step | null {
  const step = (kind: Step['kind'], after: string | null): Step => ({ path, kind, before: now, after });
  if (now === wish) return null;
  const pristine = now !== null && hash === `sha256:${hashOf(now)}`;
  if (pristine) return wish === null ? step('removed', null) : step('changed', wish);
  // A person took it away, or edited it: where nothing is to change, that stands.
  if (hash !== undefined && base !== null && base === wish) return step('kept', now);
  if (now === null) return hash === undefined ? step('new', wish) : step('kept', now);
  if (wish === null) return step('kept', now);
  const { text, hasConflict } = mergeTexts({ path, now, base, wish }, generator);
  return step(hasConflict ? 'conflict' : 'merged', text);
}
