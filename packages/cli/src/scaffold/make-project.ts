import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, InterruptedError } from '../failure.ts';
import type { ProjectConfiguration } from './configuration/configuration.ts';
import { listGuides } from './guides/guides.ts';
import {
  type CodingAgentGuideSet,
  type PlannedGuideAction,
  planGuides,
  planStaleGuideUpdates,
} from './guides/plan-guides.ts';
import { generateProjectFiles } from './project/project.ts';
import type { ProjectFile } from './project-file.ts';
import { applyEdits } from './writing/apply-edits.ts';
import { beginProjectChange } from './writing/begin-project-change.ts';
import { createProject, removeOrphanedStagingDirectories } from './writing/create-project.ts';
import { createProjectRecordFile, readRecordedGuideHashes } from './writing/project-record.ts';
import { type FileConflict, readTextIfExists, surveyDirectory } from './writing/survey.ts';
import { describeWriteError } from './writing/system-cause.ts';

export type ProjectWriteOptions = {
  /** The absolute path of the project, which need not exist yet. */
  readonly directory: string;
  readonly version: string;
  readonly overwriteGuides: boolean;
  /** Whether to replace guides for coding agents that an older version of botcli wrote. */
  readonly refreshGuides: boolean;
  /** Whether to overwrite existing files that differ, except guides such as `AGENTS.md`. */
  readonly force: boolean;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
};

export type ProjectWriteResult = {
  readonly written: readonly string[];
  readonly guides: readonly PlannedGuideAction[];
};

/** Writes a project with its guides for coding agents. Checks everything first, so after a `Failure` nothing was written. */
export async function makeProject(
  configuration: ProjectConfiguration,
  options: ProjectWriteOptions,
): Promise<ProjectWriteResult> {
  const files = generateProjectFiles(configuration);
  const withAnswers = (guides: readonly PlannedGuideAction[]) => {
    const generated = generatedGuides(guides, options);
    return [...files, createProjectRecordFile(configuration, options.version, files, generated)];
  };
  return write(withAnswers, 'scaffold', options);
}

/** Writes only the guides (`AGENTS.md` and others), for users who build their bot with a coding agent. */
export function writeCodingAgentGuides(options: ProjectWriteOptions): ProjectWriteResult {
  return write(() => [], 'agent', options);
}

/**
 * Lists the guides, such as `AGENTS.md`, that this version of botcli generates for a project. Omits guides that the user wrote.
 */
function generatedGuides(
  steps: readonly PlannedGuideAction[],
  { directory, version }: ProjectWriteOptions,
): readonly ProjectFile[] {
  const recorded = readRecordedGuideHashes(directory) ?? {};
  const own = steps.filter(({ path, state }) => state === 'own' && !Object.hasOwn(recorded, path));
  return listGuides(version).filter(({ path, beforeBot }) => !beforeBot && own.every((step) => step.path !== path));
}

/** Throws a `Failure` if the target cannot become any project. Called before the wizard asks anything. */
export function checkTargetDirectory({ directory, force }: Pick<ProjectWriteOptions, 'directory' | 'force'>): void {
  checkDirectory(directory);
  if (force) return;
  const inEveryProject = ['.gitignore', 'README.md'].map((path) => ({ path, text: '' }));
  try {
    throwConflicts(surveyDirectory(directory, inEveryProject).conflicts);
  } catch (error) {
    throw toFailure(error, directory);
  }
}

type FilesWith = (guides: readonly PlannedGuideAction[]) => readonly ProjectFile[];

function write(filesWith: FilesWith, set: CodingAgentGuideSet, options: ProjectWriteOptions): ProjectWriteResult {
  const { directory, signal, say } = options;
  checkDirectory(directory);
  try {
    removeOrphanedStagingDirectories(directory);
    if (!existsSync(directory)) {
      const { missing, guides } = planFiles(filesWith, set, options);
      createProject(directory, missing, signal);
      return { written: missing.map(({ path }) => path).sort(), guides };
    }
    const unlock = beginProjectChange(directory, say);
    try {
      const { missing, guides } = planFiles(filesWith, set, options);
      const edits = missing.map(({ path, text }) => ({
        path,
        before: readTextIfExists(join(directory, path)),
        after: text,
      }));
      if (edits.length > 0) applyEdits(directory, edits, signal);
      return { written: edits.map(({ path }) => path).sort(), guides };
    } finally {
      unlock();
    }
  } catch (error) {
    if (signal.aborted) throw new InterruptedError();
    throw toFailure(error, directory);
  }
}

type FilePlan = { readonly missing: readonly ProjectFile[]; readonly guides: readonly PlannedGuideAction[] };

/** Files to write. `.botcli/project.json` is last, because it makes a directory a project. @throws `Failure` files-in-the-way */
function planFiles(filesWith: FilesWith, set: CodingAgentGuideSet, options: ProjectWriteOptions): FilePlan {
  const { directory, force } = options;
  const guides = planProjectGuides(set, options);
  const guideFiles = guides.flatMap(({ path, text }) => (text === null ? [] : [{ path, text }]));
  const { missing, conflicts } = surveyDirectory(directory, filesWith(guides));
  const blockedGuides = surveyDirectory(directory, guideFiles).conflicts.filter(({ kind }) => kind === 'blocked');
  const remaining = conflicts.filter(({ kind }) => kind === 'blocked' || !force);
  throwConflicts([...remaining, ...blockedGuides]);
  return { missing: [...guideFiles, ...missing], guides };
}

export function planProjectGuides(
  set: CodingAgentGuideSet,
  options: ProjectWriteOptions,
): readonly PlannedGuideAction[] {
  const { directory, version, overwriteGuides, refreshGuides } = options;
  const steps = planGuides(set, version, overwriteGuides, (path) => guideText(directory, path));
  return refreshGuides ? planStaleGuideUpdates(steps, version) : steps;
}

/**
 * Reads a guide, such as `AGENTS.md`, also through a symbolic link. Returns null if no regular file is at the path. If, for
 * example, a directory is there, the caller later reports a conflict.
 */
function guideText(directory: string, path: string): string | null {
  const status = statSync(join(directory, path), { throwIfNoEntry: false });
  return status?.isFile() === true ? readTextIfExists(join(directory, path)) : null;
}

function checkDirectory(directory: string): void {
  let status: ReturnType<typeof statSync> | undefined;
  try {
    status = statSync(directory, { throwIfNoEntry: false });
  } catch (error) {
    throw toFailure(error, directory);
  }
  if (status !== undefined && !status.isDirectory()) {
    throw new Failure('not-a-directory', `${directory} is a file. Nothing was written.`);
  }
}

function throwConflicts(conflicts: readonly FileConflict[]): void {
  if (conflicts.length === 0) return;
  const forcible = conflicts.every(({ kind }) => kind === 'different');
  throw new Failure(
    'files-in-the-way',
    'Existing files conflict with the project. Nothing was written.',
    forcible
      ? 'Pass --force to overwrite these files, or choose another directory.'
      : 'Move the existing files elsewhere, or choose another directory.',
    { issues: conflicts.map(({ path, message }) => ({ path, message })) },
  );
}

function toFailure(error: unknown, directory: string): unknown {
  const cause = describeWriteError(error, directory);
  if (cause === null) return error;
  return new Failure('cannot-write', `Cannot write the project, because ${cause}. Nothing was written.`, null, {
    cause: error,
  });
}
