import { join } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import { confirm } from '../../confirm.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../failure.ts';
import type { Report } from '../../report.ts';
import { version } from '../../version.ts';
import { readAnswers } from '../checking/read-answers.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { hasMarkers } from '../merging/markers.ts';
import { packageManagerFor } from '../package-manager.ts';
import { answersPath } from '../writing/answers.ts';
import { brokenOff, carryOut, clearUnplanned, type Edit, finish } from '../writing/carry-out.ts';
import { lockProject, refuseLocked } from '../writing/lock.ts';
import { survey, textOf } from '../writing/survey.ts';
import { systemCause } from '../writing/system-cause.ts';
import { newVariables, nextSteps } from './next-steps.ts';
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
    refuseBrokenOff(directory);
    return change(context, changing);
  }
  const release = lock(directory);
  try {
    finishEarlier(directory, context.say);
    return await change(context, changing);
  } finally {
    release();
  }
}

function lock(directory: string): () => void {
  refuseLinks(directory, [{ path: answersPath, before: null, after: null }]);
  try {
    return lockProject(directory);
  } catch (error) {
    throw failureOf(error, directory);
  }
}

async function change({ world, mode, say, talk }: Context, changing: Changing): Promise<Report> {
  const { directory, dryRun, yes, conflictMarkers } = changing;
  const found = readAnswers(directory);
  const next = changing.next(found.configuration);
  const { steps, answers } = planChange(directory, found, next, version);
  refuseUnresolved(steps);
  const touched = steps.filter(isChange);
  const conflicts = steps.filter(({ kind }) => kind === 'conflict');
  const patch = touched.map(patchOf).join('');
  const variables = newVariables(found.configuration, next);
  const manager = packageManagerFor(directory, world.environment);
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
    if (dryRun && mode !== 'json') await talk.show(...report.blocks);
    throw edited(conflicts, report, dryRun);
  }
  if (dryRun) return report;
  refuseLinks(directory, edits);
  if (touched.length > 0 && !yes) {
    say(patch);
    await confirm(world, `Change ${touched.length} files?`, '--yes');
  }
  refuseMoved(directory, edits);
  try {
    carryOut(directory, edits, world.signal);
  } catch (error) {
    throw failureOf(error, directory);
  }
  if (conflicts.length > 0) {
    if (mode !== 'json') await talk.show(...report.blocks);
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

/** What was shown is what is done: a file that was saved while the question stood is not overwritten. */
function refuseMoved(directory: string, edits: readonly Edit[]): void {
  const moved = edits.filter(({ path, before }) => textOf(join(directory, path)) !== before);
  if (moved.length === 0) return;
  const issues = moved.map(({ path }) => ({ path, message: 'was changed in the meantime' }));
  throw new Failure(
    'files-changed',
    'Some files were changed in the meantime. Nothing was changed.',
    'Run the command again.',
    issues,
  );
}

function failureOf(error: unknown, directory: string): unknown {
  const cause = systemCause(error);
  if (cause === null) return error;
  const message = `The project cannot be changed: ${cause}.`;
  if (brokenOff(directory) === null) return new Failure('cannot-write', `${message} Nothing was changed.`);
  return new Failure('cannot-write', `${message} Some files are old, some new.`, finishHint);
}

const finishHint = 'Finish it with: botcli project update';

/** What an earlier change could not finish, because it was killed, is finished first: it had been agreed to. */
function finishEarlier(directory: string, say: (text: string) => void): void {
  const edits = brokenOff(directory);
  if (edits !== null) {
    refuseLinks(directory, edits);
    say('An earlier change was interrupted; it is finished first.');
  }
  try {
    const left = edits === null ? [] : finish(directory, edits);
    for (const path of left) say(`warning: ${path} was edited since and is left alone.`);
    clearUnplanned(directory);
  } catch (error) {
    throw failureOf(error, directory);
  }
}

/** Who only looks finishes nothing. */
function refuseBrokenOff(directory: string): void {
  if (brokenOff(directory) === null) return;
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

/** Nothing is written or removed through a link. */
function refuseLinks(directory: string, touched: readonly Edit[]): void {
  const files = touched.map(({ path, after }) => ({ path, text: after ?? '' }));
  const blocked = survey(directory, files).conflicts.filter(({ kind }) => kind === 'blocked');
  if (blocked.length === 0) return;
  const issues = blocked.map(({ path, message }) => ({ path, message }));
  throw new Failure('files-in-the-way', 'Some files are in the way. Nothing was changed.', null, issues);
}

function patchOf({ path, before, after }: Step): string {
  return createTwoFilesPatch(
    before === null ? '/dev/null' : `a/${path}`,
    after === null ? '/dev/null' : `b/${path}`,
    before ?? '',
    after ?? '',
  );
}
