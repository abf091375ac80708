import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Lists the paths of the regular files below a directory that a running service changes. Tolerates files that are removed meanwhile. */
export async function listLiveFiles(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(ignoreMissing);
  const paths = await Promise.all(
    entries.map((entry) => {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) return listLiveFiles(path);
      return entry.isFile() ? [path] : [];
    }),
  );
  return paths.flat();
}

/** Reads a file of such a directory. Empty if the file was removed meanwhile. */
export async function readLiveFile(path: string): Promise<Buffer> {
  return readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return Buffer.alloc(0);
  });
}

function ignoreMissing(error: NodeJS.ErrnoException): [] {
  if (error.code !== 'ENOENT') throw error;
  return [];
}
