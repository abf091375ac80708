import { Failure } from '../../failure.ts';
import { answersPath } from './answers.ts';
import { type Edit, finish, interruptedChange } from './carry-out.ts';
import { lockProject } from './project-lock.ts';
import { survey } from './survey.ts';

/**
 * Locks a project for a change, and finishes an earlier one that was interrupted: that one had been agreed to.
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
      say('An earlier change was interrupted; it is finished first.');
    }
    for (const path of finish(directory, edits ?? [])) say(`warning: ${path} was edited since and is left alone.`);
    return unlock;
  } catch (error) {
    unlock();
    throw error;
  }
}

/** Nothing is written or removed through a link. @throws `Failure` files-in-the-way */
export function refuseLinks(directory: string, edits: readonly Edit[]): void {
  const files = edits.map(({ path, after }) => ({ path, text: after ?? '' }));
  const blocked = survey(directory, files).conflicts.filter(({ kind }) => kind === 'blocked');
  if (blocked.length === 0) return;
  const issues = blocked.map(({ path, message }) => ({ path, message }));
  throw new Failure('files-in-the-way', 'Some files are in the way. Nothing was changed.', null, issues);
}
