import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ProjectPreparationError } from '../../runtime.ts';

/** Maximum size of a manifest or lock file. Parsing a far larger one would block the event loop. */
const fileBytes = 4 * 1_048_576;

/** Whether the path is a file. Follows links. False if the file system does not allow the name. */
export function isFileInProject(directory: string, name: string): boolean {
  try {
    return statSync(join(directory, name)).isFile();
  } catch {
    return false;
  }
}

/** Reads a manifest or lock file without its byte-order mark. Throws `ProjectPreparationError` if it is too large or not a file. */
export function readManifestOrLockFile(directory: string, name: string): string {
  if (!isFileInProject(directory, name)) throw new ProjectPreparationError(`${name} of the project is not a file.`);
  const path = join(directory, name);
  if (statSync(path).size > fileBytes) {
    throw new ProjectPreparationError(`${name} of the project is larger than ${fileBytes / 1_048_576} MiB.`);
  }
  return readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
}
