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
import { beginChange, refuseLinks } from '../writing/begin-change.ts';
import { carryOut, type Edit, interruptedChange } from '../writing/carry-out.ts';
import { refuseLocked } from '../writing/project-lock.ts';
import { textOf } from '../writing/survey.ts';
import { systemCause } from '../writing/system-cause.ts';
import { planChange, type Step } from './plan-change.ts';

export type Changing = {
  /** Absolute. */
  readonly directory: string;
  /** What the configuration is to become. */
  readonly next: (configuration: Configuration) => Configuration;
  readonly dryRun: boolean;
  /** Do not ask. */
  readonly yes: boolean;
  /** Write files with conflicts, too, with markers. */
  readonly conflictMarkers: boolean;
};

/**
 * Brings a project to another configuration or another version: shows what changes, asks, and writes all of it or nothing.
 * One at a time, from the first look on: what was shown is what is done. Conflicts are a `Failure`, whether they stopped the
 * change, were only looked at, or were written with markers: somebody has to resolve them.
 */
export async function changeProject(context: Context, changing: Changing): Promise<Report> {
  const { directory, dryRun } = changing;
  if (dryRun) {
    refuseInterrupted(directory);
    return change(context, changing);
  }
  // What is no project gets no lock.
  readAnswers(directory);
  const unlock = begin(directory, context.notify);
  try {
    return await change(context, changing);
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

async function change({ io, mode, notify, messages }: Context, changing: Changing): Promise<Report> {
  const { directory, dryRun, yes, conflictMarkers } = changing;
  const found = readAnswers(directory);
  const next = changing.next(found.configuration);
  const { steps, answers } = planChange(directory, found, next, version);
  refuseUnresolved(steps);
  const touched = steps.filter(isChange);
  const conflicts = steps.filter(({ kind }) => kind === 'conflict');
  const patch = touched.map(patchOf).join('');
  const variables = newVariables(found.configuration, next);
  const manager = packageManagerFor(directory, io.environment);
  const todo = dryRun
    ? []
    : nextSteps(
        directory,
        touched.map(({ path }) => path),
        variables,
        manager,
      );
  const report: Report = {
    json: { directory, steps: steps.map(({ path, kind }) => ({ path, kind })), variables, patch },
    blocks: [
      ...(dryRun && patch !== '' ? [{ kind: 'document' as const, text: patch }] : []),
      {
        kind: 'table',
        columns: [{ title: 'File' }, { title: 'What' }],
        rows: steps.map(({ path, kind }) => [path, kind]),
        empty: 'Nothing needs to change.',
      },
      ...(todo.length > 0 ? [{ kind: 'text' as const, title: 'Next', lines: todo }] : []),
    ],
  };
  const answersBefore = textOf(join(directory, answers.path));
  const edits: readonly Edit[] = [
    ...touched,
    ...[{ path: answers.path, before: answersBefore, after: answers.text }].filter(isChange),
  ];
  if (conflicts.length > 0 && (dryRun || !conflictMarkers)) {
    if (dryRun && mode !== 'json') await messages.show(...report.blocks);
    throw edited(conflicts, report, dryRun);
  }
  if (dryRun) return report;
  refuseLinks(directory, edits);
  if (touched.length > 0 && !yes) {
    notify(patch);
    await confirm(io, `Change ${touched.length} files?`, '--yes');
  }
  try {
    carryOut(directory, edits, io.signal);
  } catch (error) {
    throw failureOf(error, directory);
  }
  if (conflicts.length > 0) {
    if (mode !== 'json') await messages.show(...report.blocks);
    throw unresolved(conflicts, report);
  }
  return report;
}

/** Markers within markers would be beyond anybody. */
function refuseUnresolved(steps: readonly Step[]): void {
  const left = steps.filter((step) => isChange(step) && hasMarkers(step.before ?? ''));
  if (left.length === 0) return;
  const issues = left.map(({ path }) => ({ path, message: 'has unresolved conflicts of an earlier change' }));
  throw new Failure('conflicts-unresolved', 'Resolve the conflicts first. Nothing was changed.', null, issues);
}

function edited(conflicts: readonly Step[], { json }: Report, shown: boolean): Failure {
  const issues = conflicts.map(({ path }) => ({ path, message: 'you edited lines that would change' }));
  const hint = [
    ...(shown ? [] : ['See both versions with --dry-run.']),
    'To write both into the file, between conflict markers, add --conflict-markers.',
  ].join(' ');
  const message = 'Your edits conflict with the change. Nothing was changed.';
  return new Failure('edits-in-the-way', message, hint, issues, json as Record<string, unknown>);
}

function unresolved(conflicts: readonly Step[], { json }: Report): Failure {
  const issues = conflicts.map(({ path }) => ({ path, message: 'has both versions, between conflict markers' }));
  const hint = 'Edit the files and take the markers out. See what is left with: botcli project check';
  const message = 'The change was made, with conflicts for you to resolve.';
  return new Failure('conflicts-left', message, hint, issues, json as Record<string, unknown>);
}

function failureOf(error: unknown, directory: string): unknown {
  const cause = systemCause(error, directory);
  if (cause === null) return error;
  const message = `The project cannot be changed: ${cause}.`;
  if (interruptedChange(directory) === null) return new Failure('cannot-write', `${message} Nothing was changed.`);
  return new Failure('cannot-write', `${message} Some files are old, some new.`, finishHint);
}

const finishHint = 'Finish it with: botcli project update';

/** A dry run finishes nothing. */
function refuseInterrupted(directory: string): void {
  if (interruptedChange(directory) === null) return;
  refuseLocked(directory);
  throw new Failure(
    'change-broken-off',
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

/** Variables that have to be filled now and did not have to be before. */
function newVariables(before: Configuration, after: Configuration): readonly string[] {
  const had = requiredVariables(planOf(before));
  return requiredVariables(planOf(after)).filter((name) => !had.includes(name));
}

/** What a person still has to do for the files that were changed, as lines. */
function nextSteps(
  directory: string,
  touched: readonly string[],
  variables: readonly string[],
  packageManager: PackageManager,
): readonly string[] {
  const place = (folder: string) => shellWord(join(directory, folder));
  return [
    ...(variables.length > 0 ? [`Fill in server/.env: ${variables.join(', ')}`] : []),
    ...(touched.includes('server/pyproject.toml') ? [`cd ${place('server')} && uv sync`] : []),
    ...(touched.includes('client/package.json') ? [`cd ${place('client')} && ${packageManager} install`] : []),
  ];
}
