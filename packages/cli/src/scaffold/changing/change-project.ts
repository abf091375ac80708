import { join } from 'node:path';
import { getObjectFields } from '@bothost/contract/json-object';
import { quoteShellWord } from '@bothost/contract/shell-word';
import { createTwoFilesPatch } from 'diff';
import type { CommandContext } from '../../command-line/context.ts';
import type { PackageManager } from '../../config.ts';
import { Failure } from '../../failure.ts';
import { requireConfirmation } from '../../io/confirm.ts';
import type { CommandReport } from '../../output/report.ts';
import { createTable } from '../../output/table.ts';
import { version } from '../../version.ts';
import { readProjectRecord } from '../checking/read-project-record.ts';
import type { ProjectConfiguration } from '../configuration/configuration.ts';
import { createProjectPlan } from '../configuration/plan.ts';
import { hasConflictMarkers } from '../merging/markers.ts';
import { detectPackageManager } from '../package-manager.ts';
import { listRequiredEnvironmentVariables } from '../project/variables.ts';
import { applyEdits, type FileEdit, readInterruptedChange } from '../writing/apply-edits.ts';
import { beginProjectChange, rejectSymbolicLinks } from '../writing/begin-project-change.ts';
import { requireUnlocked } from '../writing/project-lock.ts';
import { readTextIfExists } from '../writing/survey.ts';
import { describeWriteError } from '../writing/system-cause.ts';
import { type PlannedFileChange, planChange } from './plan-change.ts';

export type ChangeRequest = {
  /** Absolute path of the project. */
  readonly directory: string;
  readonly next: (configuration: ProjectConfiguration) => ProjectConfiguration;
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly conflictMarkers: boolean;
};

/**
 * Changes a project to another configuration, or to the files that this version of botcli generates. Shows the difference, asks
 * for confirmation, and writes all files or none. Locks the project before it computes the difference, so that it writes
 * exactly the change that it shows. Throws a `Failure` if there are conflicts, because the user must resolve them.
 */
export async function applyProjectChange(context: CommandContext, request: ChangeRequest): Promise<CommandReport> {
  const { directory, dryRun } = request;
  if (dryRun) {
    refuseInterrupted(directory);
    return change(context, request);
  }
  // Throw if the directory is not a project. The lock is created only after this check.
  readProjectRecord(directory);
  const unlock = begin(directory, context.notify);
  try {
    return await change(context, request);
  } finally {
    unlock();
  }
}

function begin(directory: string, say: (text: string) => void): () => void {
  try {
    return beginProjectChange(directory, say);
  } catch (error) {
    throw toFailure(error, directory);
  }
}

async function change({ io, mode, notify, messages }: CommandContext, request: ChangeRequest): Promise<CommandReport> {
  const { directory, dryRun, yes, conflictMarkers } = request;
  const answers = readProjectRecord(directory);
  const next = request.next(answers.configuration);
  const { steps, answers: newAnswers } = planChange(directory, answers, next, version);
  refuseUnresolved(steps);
  const changed = steps.filter(isChange);
  const conflicts = steps.filter(({ kind }) => kind === 'conflict');
  const patch = changed.map(createPatch).join('');
  const variables = newVariables(answers.configuration, next);
  const manager = detectPackageManager(directory, io.environment);
  const todo = dryRun
    ? []
    : nextSteps(
        directory,
        changed.map(({ path }) => path),
        variables,
        manager,
      );
  const report: CommandReport = {
    json: { directory, steps: steps.map(({ path, kind }) => ({ path, kind })), variables, patch },
    blocks: [
      ...(dryRun && patch !== '' ? [{ kind: 'document' as const, text: patch }] : []),
      createTable(steps, 'Nothing needs to change.', [
        ['File', ({ path }) => path],
        ['Change', ({ kind }) => kind],
      ]),
      ...(todo.length > 0 ? [{ kind: 'text' as const, title: 'Next', lines: todo }] : []),
    ],
  };
  const answersBefore = readTextIfExists(join(directory, newAnswers.path));
  const edits: readonly FileEdit[] = [
    ...changed,
    ...[{ path: newAnswers.path, before: answersBefore, after: newAnswers.text }].filter(isChange),
  ];
  if (conflicts.length > 0 && (dryRun || !conflictMarkers)) {
    if (dryRun && mode !== 'json') await messages.show(...report.blocks);
    throw conflictFailure(conflicts, report, dryRun);
  }
  if (dryRun) return report;
  rejectSymbolicLinks(directory, edits);
  if (changed.length > 0 && !yes) {
    notify(patch);
    await requireConfirmation(io, `Change ${changed.length} files?`, '--yes');
  }
  try {
    applyEdits(directory, edits, io.signal);
  } catch (error) {
    throw toFailure(error, directory);
  }
  if (conflicts.length > 0) {
    if (mode !== 'json') await messages.show(...report.blocks);
    throw markersFailure(conflicts, report);
  }
  return report;
}

/** Throws a `Failure` if a file to change contains conflict markers, because users could not resolve nested markers. */
function refuseUnresolved(steps: readonly PlannedFileChange[]): void {
  const unresolved = steps.filter((step) => isChange(step) && hasConflictMarkers(step.before ?? ''));
  if (unresolved.length === 0) return;
  const issues = unresolved.map(({ path }) => ({
    path,
    message: 'the file has unresolved conflicts from an earlier change',
  }));
  throw new Failure('conflicts-unresolved', 'Resolve the conflicts first. Nothing was changed.', null, { issues });
}

function conflictFailure(conflicts: readonly PlannedFileChange[], { json }: CommandReport, shown: boolean): Failure {
  const issues = conflicts.map(({ path }) => ({ path, message: 'you edited lines that this change would overwrite' }));
  const hint = [
    ...(shown ? [] : ['To see both versions, pass --dry-run.']),
    'To write both versions into the file, between conflict markers, pass --conflict-markers.',
  ].join(' ');
  const message = 'Your edits conflict with the change. Nothing was changed.';
  return new Failure('edits-in-the-way', message, hint, { issues, details: getObjectFields(json) });
}

function markersFailure(conflicts: readonly PlannedFileChange[], { json }: CommandReport): Failure {
  const issues = conflicts.map(({ path }) => ({
    path,
    message: 'the file contains both versions, between conflict markers',
  }));
  const hint =
    'Edit the files and remove the conflict markers. To list the remaining conflicts, run: botcli project check';
  const message = 'The change was written, with conflicts for you to resolve.';
  return new Failure('conflicts-left', message, hint, { issues, details: getObjectFields(json) });
}

function toFailure(error: unknown, directory: string): unknown {
  const cause = describeWriteError(error, directory);
  if (cause === null) return error;
  const isIncomplete = readInterruptedChange(directory) !== null;
  return isIncomplete
    ? new Failure('cannot-write', `Only some files of the project were changed, because ${cause}.`, finishHint, {
        cause: error,
      })
    : new Failure('cannot-write', `Cannot change the project, because ${cause}. Nothing was changed.`, null, {
        cause: error,
      });
}

const finishHint = 'To finish the change, run: botcli project update';

/**
 * Called only for a dry run. Throws a `Failure` if an earlier change of the project was interrupted, because a dry run cannot
 * write the files that finish the earlier change.
 */
function refuseInterrupted(directory: string): void {
  if (readInterruptedChange(directory) === null) return;
  requireUnlocked(directory);
  throw new Failure(
    'change-interrupted',
    `An earlier change to ${directory} was interrupted and is incomplete.`,
    finishHint,
  );
}

function isChange({ before, after }: FileEdit): boolean {
  return before !== after;
}

function createPatch({ path, before, after }: PlannedFileChange): string {
  return createTwoFilesPatch(
    before === null ? '/dev/null' : `a/${path}`,
    after === null ? '/dev/null' : `b/${path}`,
    before ?? '',
    after ?? '',
  );
}

function newVariables(before: ProjectConfiguration, after: ProjectConfiguration): readonly string[] {
  const required = listRequiredEnvironmentVariables(createProjectPlan(before));
  return listRequiredEnvironmentVariables(createProjectPlan(after)).filter((name) => !required.includes(name));
}

function nextSteps(
  directory: string,
  changedPaths: readonly string[],
  variables: readonly string[],
  packageManager: PackageManager,
): readonly string[] {
  const path = (folder: string) => quoteShellWord(join(directory, folder));
  return [
    ...(variables.length > 0 ? [`Fill in server/.env: ${variables.join(', ')}`] : []),
    ...(changedPaths.includes('server/pyproject.toml') ? [`cd ${path('server')} && uv sync`] : []),
    ...(changedPaths.includes('client/package.json') ? [`cd ${path('client')} && ${packageManager} install`] : []),
  ];
}
