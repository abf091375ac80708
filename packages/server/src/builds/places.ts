import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { RemoveTree } from '@bothost/runtime';

/** Where builds keep files: archives as they were received, and trees while they are being prepared. */
export type Places = {
  /** Where all of it lies. */
  readonly root: string;
  readonly archive: (uploadId: string) => string;
  readonly tree: (buildId: string) => string;
  readonly uploadIds: () => Promise<readonly string[]>;
  readonly treeIds: () => Promise<readonly string[]>;
  readonly removeTree: RemoveTree;
};

/** Makes the folders; only the service itself can look into them. `dataDirectory` is absolute. */
export async function openPlaces(dataDirectory: string, removeTree: RemoveTree): Promise<Places> {
  const root = join(dataDirectory, 'builds');
  const uploads = join(root, 'uploads');
  const trees = join(root, 'trees');
  for (const folder of [root, uploads, trees]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  }
  return {
    root,
    archive: (uploadId) => join(uploads, uploadId.toLowerCase()),
    tree: (buildId) => join(trees, buildId),
    uploadIds: () => readdir(uploads),
    treeIds: () => readdir(trees),
    removeTree,
  };
}
