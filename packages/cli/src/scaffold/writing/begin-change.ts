import { Failure } from '../../failure.ts';
import { answersPath } from './answers.ts';
import { type Edit, finish, interruptedChange } from './apply-edits.ts';
import { lockProject } from './project-lock.ts';
import { survey } from './survey.ts';

/**
 * Locks a project for a change, and first finishes an earlier change that was interrupted, because the user had confirmed it.
 *
 * @returns the function that unlocks it
 * @throws `Failure` project-busy, files-in-the-way; errors of the system
 */
export function beginChange(directory: string, say: (text: string) => void): () => void {
  refuseLinks(directory, [{ path: answersPath, before: null, after: null }]);
  const unlock = lockProject(directory);
  try {
    const edits = interruptedChange(directory);
    if (edits !== null) {
      refuseLinks(directory, edits);
      say('Finishing an earlier change that was interrupted.');
    }
    for (const path of finish(directory, edits ?? []))
      say(`warning: ${path} was edited in the meantime and was not changed.`);
    return unlock;
  } catch (error) {
    unlock();
    throw error;
  }
}

/** Refuses edits that would write or remove files through a link. @throws `Failure` files-in-the-way */
export function refuseLinks(directory: string, edits: readonly Edit[]): void {
  const files = edits.map(({ path, after }) => ({ path, text: after ?? '' }));
  const blocked = survey(directory, files).conflicts.filter(({ kind }) => kind === 'blocked');
  if (blocked.length === 0) return;
  const issues = blocked.map(({ path, message }) => ({ path, message }));
  throw new Failure(
    'files-in-the-way',
    'Existing links or directories conflict with the change. Nothing was changed.',
    null,
    issues,
  );
}
