import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { RemoveTree } from '@bothost/runtime';

/** Directories of builds: received archives, and unpacked trees during the preparation. */
export type Places = {
  /** Contains the others. */
  readonly root: string;
  readonly archive: (uploadId: string) => string;
  readonly tree: (buildId: string) => string;
  readonly uploadIds: () => Promise<readonly string[]>;
  readonly treeIds: () => Promise<readonly string[]>;
  readonly removeTree: RemoveTree;
};

/** Relative to the data directory. */
export function archivePath(uploadId: string): string {
  return join('builds', 'uploads', uploadId.toLowerCase());
}

/** Creates the directories, which only the service can read. `dataDirectory` is absolute. */
export async function openPlaces(dataDirectory: string, removeTree: RemoveTree): Promise<Places> {
  const root = join(dataDirectory, 'builds');
  const uploads = join(root, 'uploads');
  const trees = join(root, 'trees');
  for (const folder of [root, uploads, trees]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  }
  return {
    root,
    archive: (uploadId) => join(dataDirectory, archivePath(uploadId)),
    tree: (buildId) => join(trees, buildId),
    uploadIds: () => readdir(uploads),
    treeIds: () => readdir(trees),
    removeTree,
  };
}
