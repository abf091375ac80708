import { join } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import type { Context } from '../../command-line/context.ts';
import type { PackageManager } from '../../config.ts';
import { Failure } from '../../failure.ts';
import { confirm } from '../../io/confirm.ts';
import type { Report } from '../../output/report.ts';
import { version } from '../../version.ts';
import { readAnswers } from '../checking/read-answers.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { planOf } from '../configuration/plan.ts';
import { hasMarkers } from '../merging/markers.ts';
import { packageManagerFor } from '../package-manager.ts';
import { requiredVariables } from '../project/variables.ts';
import { shellWord } from '../shell-word.ts';
import { applyEdits, type Edit, interruptedChange } from '../writing/apply-edits.ts';
import { beginChange, refuseLinks } from '../writing/begin-change.ts';
import { refuseLocked } from '../writing/project-lock.ts';
import { textOf } from '../writing/survey.ts';
import { systemCause } from '../writing/system-cause.ts';
import { planChange, type Step } from './plan-change.ts';

export type ChangeRequest = {
  /** Absolute. */
  readonly directory: string;
  /** Returns the new configuration. */
  readonly next: (configuration: Configuration) => Configuration;
  readonly dryRun: boolean;
  /** Do not ask for confirmation. */
  readonly yes: boolean;
  /** Write files that have conflicts, with conflict markers. */
  readonly conflictMarkers: boolean;
};

/**
 * Changes a project to another configuration, or to what this version generates: shows the difference, asks, and writes all of
 * it or nothing. The project is locked from the start, so that exactly the difference shown is written. Conflicts are a
 * `Failure` in every case, also in a dry run and when they are written with markers, because the user must resolve them.
 */
export async function changeProject(context: Context, request: ChangeRequest): Promise<Report> {
  const { directory, dryRun } = request;
  if (dryRun) {
    refuseInterrupted(directory);
    return change(context, request);
  }
  // Do not create a lock in a directory that is not a project.
  readAnswers(directory);
  const unlock = begin(directory, context.notify);
  try {
    return await change(context, request);
  } finally {
    unlock();
  }
}

function begin(directory: string, say: (text: string) => void): () => void {
  try {
    return beginChange(directory, say);
  } catch (error) {
    throw failureOf(error, directory);
  }
}

async function change({ io, mode, notify, messages }: Context, request: ChangeRequest): Promise<Report> {
  const { directory, dryRun, yes, conflictMarkers } = request;
  const answers = readAnswers(directory);
  const next = request.next(answers.configuration);
  const { steps, answers: newAnswers } = planChange(directory, answers, next, version);
  refuseUnresolved(steps);
  const changed = steps.filter(isChange);
  const conflicts = steps.filter(({ kind }) => kind === 'conflict');
  const patch = changed.map(patchOf).join('');
  const variables = newVariables(answers.configuration, next);
  const manager = packageManagerFor(directory, io.environment);
  const todo = dryRun
    ? []
    : nextSteps(
        directory,
        changed.map(({ path }) => path),
        variables,
        manager,
      );
  const report: Report = {
    json: { directory, steps: steps.map(({ path, kind }) => ({ path, kind })), variables, patch },
    blocks: [
      ...(dryRun && patch !== '' ? [{ kind: 'document' as const, text: patch }] : []),
      {
        kind: 'table',
        columns: [{ title: 'File' }, { title: 'Change' }],
        rows: steps.map(({ path, kind }) => [path, kind]),
        empty: 'Nothing needs to change.',
      },
      ...(todo.length > 0 ? [{ kind: 'text' as const, title: 'Next', lines: todo }] : []),
    ],
  };
  const answersBefore = textOf(join(directory, newAnswers.path));
  const edits: readonly Edit[] = [
    ...changed,
    ...[{ path: newAnswers.path, before: answersBefore, after: newAnswers.text }].filter(isChange),
  ];
  if (conflicts.length > 0 && (dryRun || !conflictMarkers)) {
    if (dryRun && mode !== 'json') await messages.show(...report.blocks);
    throw conflictFailure(conflicts, report, dryRun);
  }
  if (dryRun) return report;
  refuseLinks(directory, edits);
  if (changed.length > 0 && !yes) {
    notify(patch);
    await confirm(io, `Change ${changed.length} files?`, '--yes');
  }
  try {
    applyEdits(directory, edits, io.signal);
  } catch (error) {
    throw failureOf(error, directory);
  }
  if (conflicts.length > 0) {
    if (mode !== 'json') await messages.show(...report.blocks);
    throw markersFailure(conflicts, report);
  }
  return report;
}

/** Nested conflict markers could not be resolved. */
function refuseUnresolved(steps: readonly Step[]): void {
  const unresolved = steps.filter((step) => isChange(step) && hasMarkers(step.before ?? ''));
  if (unresolved.length === 0) return;
  const issues = unresolved.map(({ path }) => ({ path, message: 'has unresolved conflicts from an earlier change' }));
  throw new Failure('conflicts-unresolved', 'Resolve the conflicts first. Nothing was changed.', null, issues);
}

function conflictFailure(conflicts: readonly Step[], { json }: Report, shown: boolean): Failure {
  const issues = conflicts.map(({ path }) => ({ path, message: 'you edited lines that would change' }));
  const hint = [
    ...(shown ? [] : ['See both versions with --dry-run.']),
    'To write both into the file, between conflict markers, add --conflict-markers.',
  ].join(' ');
  const message = 'Your edits conflict with the change. Nothing was changed.';
  return new Failure('edits-in-the-way', message, hint, issues, json as Record<string, unknown>);
}

function markersFailure(conflicts: readonly Step[], { json }: Report): Failure {
  const issues = conflicts.map(({ path }) => ({ path, message: 'has both versions, between conflict markers' }));
  const hint = 'Edit the files and remove the markers. List the remaining ones with: botcli project check';
  const message = 'The change was written, with conflicts for you to resolve.';
  return new Failure('conflicts-left', message, hint, issues, json as Record<string, unknown>);
}

function failureOf(error: unknown, directory: string): unknown {
  const cause = systemCause(error, directory);
  if (cause === null) return error;
  const message = `The project cannot be changed: ${cause}.`;
  if (interruptedChange(directory) === null) return new Failure('cannot-write', `${message} Nothing was changed.`);
  return new Failure('cannot-write', `${message} Some files were changed, others were not.`, finishHint);
}

const finishHint = 'Finish it with: botcli project update';

/** A dry run cannot finish an interrupted change, because that writes files. */
function refuseInterrupted(directory: string): void {
  if (interruptedChange(directory) === null) return;
  refuseLocked(directory);
  throw new Failure(
    'change-interrupted',
    `An earlier change to ${directory} was interrupted and is incomplete.`,
    finishHint,
  );
}

function isChange({ before, after }: Edit): boolean {
  return before !== after;
}

function patchOf({ path, before, after }: Step): string {
  return createTwoFilesPatch(
    before === null ? '/dev/null' : `a/${path}`,
    after === null ? '/dev/null' : `b/${path}`,
    before ?? '',
    after ?? '',
  );
}

/** Variables that are required by the new configuration, but not by the old one. */
function newVariables(before: Configuration, after: Configuration): readonly string[] {
  const required = requiredVariables(planOf(before));
  return requiredVariables(planOf(after)).filter((name) => !required.includes(name));
}

/** What the user still has to do for the changed files. */
function nextSteps(
  directory: string,
  changedPaths: readonly string[],
  variables: readonly string[],
  packageManager: PackageManager,
): readonly string[] {
  const path = (folder: string) => shellWord(join(directory, folder));
  return [
    ...(variables.length > 0 ? [`Fill in server/.env: ${variables.join(', ')}`] : []),
    ...(changedPaths.includes('server/pyproject.toml') ? [`cd ${path('server')} && uv sync`] : []),
    ...(changedPaths.includes('client/package.json') ? [`cd ${path('client')} && ${packageManager} install`] : []),
  ];
}
