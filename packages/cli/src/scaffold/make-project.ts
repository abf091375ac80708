import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, Interrupted } from '../failure.ts';
import type { Configuration } from './configuration/configuration.ts';
import { guidesOf } from './guides/guides.ts';
import { type GuideSet, type GuideStep, planGuides, refreshed } from './guides/plan-guides.ts';
import type { ProjectFile } from './project-file.ts';
import { answersFile, recordedGuides } from './writing/answers.ts';
import { applyEdits } from './writing/apply-edits.ts';
import { beginChange } from './writing/begin-change.ts';
import { createProject, removeOrphans } from './writing/create-project.ts';
import { type Conflict, survey, textOf } from './writing/survey.ts';
import { systemCause } from './writing/system-cause.ts';

export type WriteOptions = {
  /** Absolute. It need not exist. */
  readonly directory: string;
  readonly version: string;
  readonly overwriteGuides: boolean;
  /** Replace guides that an older version wrote. */
  readonly refreshGuides: boolean;
  /** Overwrite files that exist and differ. Guides are overwritten only with `overwriteGuides`. */
  readonly force: boolean;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
};

export type WriteResult = { readonly written: readonly string[]; readonly guides: readonly GuideStep[] };

/** Writes a project with its guides. Everything is checked first; after a `Failure`, nothing was written. */
export async function makeProject(configuration: Configuration, options: WriteOptions): Promise<WriteResult> {
  const { projectFiles } = await import('./project/project.ts');
  const files = projectFiles(configuration);
  const withAnswers = (guides: readonly GuideStep[]) => {
    const generated = generatedGuides(guides, options);
    return [...files, answersFile(configuration, options.version, files, generated)];
  };
  return write(withAnswers, 'scaffold', options);
}

/** Writes the guides alone, for users who build with a coding agent. */
export function makeGuides(options: WriteOptions): WriteResult {
  return write(() => [], 'agent', options);
}

/** The guides that botcli generates for this project, as this version writes them. A user's own guides are left out. */
function generatedGuides(steps: readonly GuideStep[], { directory, version }: WriteOptions): readonly ProjectFile[] {
  const recorded = recordedGuides(directory) ?? {};
  const own = steps.filter(({ path, state }) => state === 'own' && !Object.hasOwn(recorded, path));
  return guidesOf(version).filter(({ path, beforeBot }) => !beforeBot && own.every((step) => step.path !== path));
}

/**
 * Checks the target before the wizard asks anything: it must be a directory or missing, and must not have a file that conflicts
 * with every project.
 */
export function checkTarget({ directory, force }: Pick<WriteOptions, 'directory' | 'force'>): void {
  checkDirectory(directory);
  if (force) return;
  const inEveryProject = ['.gitignore', 'README.md'].map((path) => ({ path, text: '' }));
  try {
    throwConflicts(survey(directory, inEveryProject).conflicts);
  } catch (error) {
    throw failureOf(error, directory);
  }
}

type FilesWith = (guides: readonly GuideStep[]) => readonly ProjectFile[];

function write(filesWith: FilesWith, set: GuideSet, options: WriteOptions): WriteResult {
  const { directory, signal, say } = options;
  checkDirectory(directory);
  try {
    removeOrphans(directory);
    if (!existsSync(directory)) {
      const { missing, guides } = planFiles(filesWith, set, options);
      createProject(directory, missing, signal);
      return { written: missing.map(({ path }) => path).sort(), guides };
    }
    const unlock = beginChange(directory, say);
    try {
      const { missing, guides } = planFiles(filesWith, set, options);
      const edits = missing.map(({ path, text }) => ({ path, before: textOf(join(directory, path)), after: text }));
      if (edits.length > 0) applyEdits(directory, edits, signal);
      return { written: edits.map(({ path }) => path).sort(), guides };
    } finally {
      unlock();
    }
  } catch (error) {
    if (signal.aborted) throw new Interrupted();
    throw failureOf(error, directory);
  }
}

type FilePlan = { readonly missing: readonly ProjectFile[]; readonly guides: readonly GuideStep[] };

/** Lists the files to write. The answers come last: without them a directory is no project. @throws `Failure` files-in-the-way */
function planFiles(filesWith: FilesWith, set: GuideSet, options: WriteOptions): FilePlan {
  const { directory, force } = options;
  const guides = guidesFor(set, options);
  const guideFiles = guides.flatMap(({ path, text }) => (text === null ? [] : [{ path, text }]));
  const { missing, conflicts } = survey(directory, filesWith(guides));
  const blockedGuides = survey(directory, guideFiles).conflicts.filter(({ kind }) => kind === 'blocked');
  const remaining = conflicts.filter(({ kind }) => kind === 'blocked' || !force);
  throwConflicts([...remaining, ...blockedGuides]);
  return { missing: [...guideFiles, ...missing], guides };
}

/** What would be done with each guide. */
export function guidesFor(set: GuideSet, options: WriteOptions): readonly GuideStep[] {
  const { directory, version, overwriteGuides, refreshGuides } = options;
  const steps = planGuides(set, version, overwriteGuides, (path) => guideText(directory, path));
  return refreshGuides ? refreshed(steps, version) : steps;
}

/** The text of a guide. A link or directory in its place is reported as a conflict later and only must not be read. */
function guideText(directory: string, path: string): string | null {
  const status = statSync(join(directory, path), { throwIfNoEntry: false });
  return status?.isFile() === true ? textOf(join(directory, path)) : null;
}

function checkDirectory(directory: string): void {
  let status: ReturnType<typeof statSync> | undefined;
  try {
    status = statSync(directory, { throwIfNoEntry: false });
  } catch (error) {
    throw failureOf(error, directory);
  }
  if (status !== undefined && !status.isDirectory()) {
    throw new Failure('not-a-directory', `${directory} is a file. Nothing was written.`);
  }
}

function throwConflicts(conflicts: readonly Conflict[]): void {
  if (conflicts.length === 0) return;
  const forcible = conflicts.every(({ kind }) => kind === 'different');
  throw new Failure(
    'files-in-the-way',
    'Existing files conflict with the project. Nothing was written.',
    forcible
      ? 'Overwrite them with --force, or choose another directory.'
      : 'Move them away, or choose another directory.',
    conflicts.map(({ path, message }) => ({ path, message })),
  );
}

function failureOf(error: unknown, directory: string): unknown {
  const cause = systemCause(error, directory);
  if (cause === null) return error;
  return new Failure('cannot-write', `The project cannot be written: ${cause}. Nothing was written.`);
}
