import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DirectoryTreeRemover } from '@bothost/runtime';

/** Directories for uploaded archives, and for the projects that are unpacked from them. */
export type BuildDirectories = {
  /** Parent directory of the directories for archives and unpacked projects. */
  readonly root: string;
  readonly archive: (uploadId: string) => string;
  readonly tree: (buildId: string) => string;
  readonly uploadIds: () => Promise<readonly string[]>;
  readonly treeIds: () => Promise<readonly string[]>;
  readonly removeTree: DirectoryTreeRemover;
};

/** Path of an upload's archive, relative to the data directory. */
export function getArchivePath(uploadId: string): string {
  return join('builds', 'uploads', uploadId.toLowerCase());
}

/** Creates the directories below the absolute path `dataDirectory`. Only the service's account can read them. */
export async function createBuildDirectories(
  dataDirectory: string,
  removeTree: DirectoryTreeRemover,
): Promise<BuildDirectories> {
  const root = join(dataDirectory, 'builds');
  const uploads = join(root, 'uploads');
  const trees = join(root, 'trees');
  for (const folder of [root, uploads, trees]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  }
  return {
    root,
    archive: (uploadId) => join(dataDirectory, getArchivePath(uploadId)),
    tree: (buildId) => join(trees, buildId),
    uploadIds: () => readdir(uploads),
    treeIds: () => readdir(trees),
    removeTree,
  };
}
