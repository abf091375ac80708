import { hashFiles, type Sha256 } from './archive.ts';
import type { Folder } from './folder.ts';
import { listProjectFiles, type ProjectFiles } from './project-files.ts';
import { checkProjectSize } from './project-size.ts';
import { findProjectWarnings } from './warnings.ts';

/** A project that can be deployed. Two projects with the same content hash have the same packed files. */
export type PackableProject = ProjectFiles & { readonly contentHash: string; readonly warnings: readonly string[] };

/**
 * Lists and hashes the files of a project. `patterns` are those of `[build.exclude]` in the deploy file. Calls `onProgress` with
 * the number of bytes that have been read. Throws a `PackingError` if the project cannot be packed.
 *
 * @example
 * const { files, contentHash } = await readProject(folder, ['*.wav'], createSha256(), (bytes) => showProgress(bytes));
 */
export async function readProject(
  folder: Folder,
  patterns: readonly string[],
  sha256: Sha256,
  onProgress: (bytes: number) => void,
): Promise<PackableProject> {
  const project = await listProjectFiles(folder, patterns);
  checkProjectSize(project.files);
  const contentHash = await hashFiles(project.files, sha256, onProgress);
  return { ...project, contentHash, warnings: await findProjectWarnings(project) };
}
