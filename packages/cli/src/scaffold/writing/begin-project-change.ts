import { Failure } from '../../failure.ts';
import { projectRecordPath } from '../project-file.ts';
import { type FileEdit, finishInterruptedChange, readInterruptedChange } from './apply-edits.ts';
import { lockProjectDirectory } from './project-lock.ts';
import { surveyDirectory } from './survey.ts';

/**
 * Locks a project for a change. Then finishes an earlier change that was interrupted, because the user had confirmed that
 * change. @returns the function that unlocks the project @throws `Failure` project-busy, files-in-the-way; system errors
 */
export function beginProjectChange(directory: string, say: (text: string) => void): () => void {
  rejectSymbolicLinks(directory, [{ path: projectRecordPath, before: null, after: null }]);
  const unlock = lockProjectDirectory(directory);
  try {
    const edits = readInterruptedChange(directory);
    if (edits !== null) {
      rejectSymbolicLinks(directory, edits);
      say('Finishing an earlier change that was interrupted.');
    }
    for (const path of finishInterruptedChange(directory, edits ?? []))
      say(`warning: ${path} was edited after the interruption and was not changed.`);
    return unlock;
  } catch (error) {
    unlock();
    throw error;
  }
}

/** Throws a `Failure` if an edit would follow a link, or if a directory is at the path of an edit. */
export function rejectSymbolicLinks(directory: string, edits: readonly FileEdit[]): void {
  const files = edits.map(({ path, after }) => ({ path, text: after ?? '' }));
  const blocked = surveyDirectory(directory, files).conflicts.filter(({ kind }) => kind === 'blocked');
  if (blocked.length === 0) return;
  const issues = blocked.map(({ path, message }) => ({ path, message }));
  throw new Failure(
    'files-in-the-way',
    'Existing files, links or directories conflict with files to write. Nothing was changed.',
    null,
    { issues },
  );
}
