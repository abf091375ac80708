import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, Interrupted } from '../failure.ts';
import type { Configuration } from './configuration/configuration.ts';
import { guidesOf } from './guides/guides.ts';
import { type GuideSet, type GuideStep, planGuides, refreshed } from './guides/plan-guides.ts';
import type { ProjectFile } from './project-file.ts';
import { answersFile, recordedGuides } from './writing/answers.ts';
import { beginChange } from './writing/begin-change.ts';
import { carryOut } from './writing/carry-out.ts';
import { createProject, removeOrphans } from './writing/create-project.ts';
import { type Conflict, survey, textOf } from './writing/survey.ts';
import { systemCause } from './writing/system-cause.ts';

export type Making = {
  /** Absolute. It need not exist. */
  readonly directory: string;
  readonly version: string;
  readonly overwriteGuides: boolean;
  /** Write guides anew that an older version wrote. */
  readonly refreshGuides: boolean;
  /** Replace files that exist and differ. Guides are replaced only when that is asked for. */
  readonly force: boolean;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
};

export type Made = { readonly written: readonly string[]; readonly guides: readonly GuideStep[] };

/** Makes a project with its guides. Everything is checked first; a `Failure` means that nothing was written. */
export async function makeProject(configuration: Configuration, making: Making): Promise<Made> {
  const { projectFiles } = await import('./project/project.ts');
  const files = projectFiles(configuration);
  const withAnswers = (guides: readonly GuideStep[]) => {
    const generated = guidesGenerated(guides, making);
    return [...files, answersFile(configuration, making.version, files, generated)];
  };
  return make(withAnswers, 'scaffold', making);
}

/** Writes the guides alone, for those who build with a coding agent. */
export function makeGuides(making: Making): Made {
  return make(() => [], 'agent', making);
}

/** Those that are not a person's own, as this version writes them: the same for the same choices, edited or not. */
function guidesGenerated(steps: readonly GuideStep[], { directory, version }: Making): readonly ProjectFile[] {
  const recorded = recordedGuides(directory) ?? {};
  const own = steps.filter(({ path, state }) => state === 'own' && !Object.hasOwn(recorded, path));
  return guidesOf(version).filter(({ path, beforeBot }) => !beforeBot && own.every((step) => step.path !== path));
}

/**
 * What can be told before anything is asked: a target that is not a directory, and files in the way of every project. Whatever
 * is answered, they would refuse it at the end.
 */
export function refuseBeforehand({ directory, force }: Pick<Making, 'directory' | 'force'>): void {
  checkDirectory(directory);
  if (force) return;
  const always = ['.gitignore', 'README.md'].map((path) => ({ path, text: '' }));
  try {
    refuse(survey(directory, always).conflicts);
  } catch (error) {
    throw failureOf(error, directory);
  }
}

type FilesWith = (guides: readonly GuideStep[]) => readonly ProjectFile[];

function make(filesWith: FilesWith, set: GuideSet, making: Making): Made {
  const { directory, signal, say } = making;
  checkDirectory(directory);
  try {
    removeOrphans(directory);
    if (!existsSync(directory)) {
      const { missing, guides } = planFiles(filesWith, set, making);
      createProject(directory, missing, signal);
      return { written: missing.map(({ path }) => path).sort(), guides };
    }
    const unlock = beginChange(directory, say);
    try {
      const { missing, guides } = planFiles(filesWith, set, making);
      const edits = missing.map(({ path, text }) => ({ path, before: textOf(join(directory, path)), after: text }));
      if (edits.length > 0) carryOut(directory, edits, signal);
      return { written: edits.map(({ path }) => path).sort(), guides };
    } finally {
      unlock();
    }
  } catch (error) {
    if (signal.aborted) throw new Interrupted();
    throw failureOf(error, directory);
  }
}

type Plan = { readonly missing: readonly ProjectFile[]; readonly guides: readonly GuideStep[] };

/** What has to be written. The answers come last: without them a directory is no project. @throws `Failure` files-in-the-way */
function planFiles(filesWith: FilesWith, set: GuideSet, making: Making): Plan {
  const { directory, force } = making;
  const guides = guidesFor(set, making);
  const guideFiles = guides.flatMap(({ path, text }) => (text === null ? [] : [{ path, text }]));
  const { missing, conflicts } = survey(directory, filesWith(guides));
  const blockedGuides = survey(directory, guideFiles).conflicts.filter(({ kind }) => kind === 'blocked');
  const standing = conflicts.filter(({ kind }) => kind === 'blocked' || !force);
  refuse([...standing, ...blockedGuides]);
  return { missing: [...guideFiles, ...missing], guides };
}

/** What would become of the guides. */
export function guidesFor(set: GuideSet, making: Making): readonly GuideStep[] {
  const { directory, version, overwriteGuides, refreshGuides } = making;
  const steps = planGuides(set, version, overwriteGuides, (path) => guideText(directory, path));
  return refreshGuides ? refreshed(steps, version) : steps;
}

/** A guide that is a link or a directory is told apart later; here it only must not be read. */
function guideText(directory: string, path: string): string | null {
  const found = statSync(join(directory, path), { throwIfNoEntry: false });
  return found?.isFile() === true ? textOf(join(directory, path)) : null;
}

function checkDirectory(directory: string): void {
  let found: ReturnType<typeof statSync> | undefined;
  try {
    found = statSync(directory, { throwIfNoEntry: false });
  } catch (error) {
    throw failureOf(error, directory);
  }
  if (found !== undefined && !found.isDirectory()) {
    throw new Failure('not-a-directory', `${directory} is a file. Nothing was written.`);
  }
}

function refuse(conflicts: readonly Conflict[]): void {
  if (conflicts.length === 0) return;
  const forcible = conflicts.every(({ kind }) => kind === 'different');
  throw new Failure(
    'files-in-the-way',
    'Some files are in the way. Nothing was written.',
    forcible
      ? 'Use --force to overwrite them, or choose another directory.'
      : 'Move them away, or choose another directory.',
    conflicts.map(({ path, message }) => ({ path, message })),
  );
}

function failureOf(error: unknown, directory: string): unknown {
  const cause = systemCause(error, directory);
  if (cause === null) return error;
  return new Failure('cannot-write', `The project cannot be written: ${cause}. Nothing was written.`);
}
