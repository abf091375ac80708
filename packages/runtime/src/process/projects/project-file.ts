import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PrepareError } from '../../runtime.ts';

/** Lists of dependencies and locks are far smaller; what is larger would hold up everything else while it is read. */
const fileBytes = 4 * 1_048_576;

/** Whether it is a file, links followed; what no file can be named is none. */
export function isProjectFile(directory: string, name: string): boolean {
  try {
    return statSync(join(directory, name)).isFile();
  } catch {
    return false;
  }
}

/** The text of a file that says how a project is prepared. Throws `PrepareError` when it is too large, or no file. */
export function readProjectFile(directory: string, name: string): string {
  if (!isProjectFile(directory, name)) throw new PrepareError(`${name} of the project is not a file.`);
  const path = join(directory, name);
  if (statSync(path).size > fileBytes) {
    throw new PrepareError(`${name} of the project is larger than ${fileBytes / 1_048_576} MiB.`);
  }
  return readFileSync(path, 'utf8');
}
